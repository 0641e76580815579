"""Where a run may find itself: as a user who is not root, in a time namespace, without HOME and TMPDIR, without /proc."""
import os
import shlex
import shutil
import subprocess

import pytest
from conftest import command_of

DOME = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-run_steps", "2", "-timeseries_file", "s.nc", "-o", "o.nc", "-report", "r.json",
        "-io_transport", "async:1")
PLACES = {
    "not root": ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
    "time namespace": ["unshare", "-T", "--fork"],
    "no /proc": ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"],
    "no HOME, no TMPDIR": ["env", "-u", "HOME", "-u", "TMPDIR"],
}


@pytest.mark.parametrize("place", PLACES)
def test_a_run_and_its_files(tmp_path, place):
    enter = PLACES[place]
    start = [*enter, *shlex.split(os.environ["NUNATAK_MPIEXEC"]), "1", "true"]
    if shutil.which(enter[0]) is None or subprocess.run(start, capture_output=True).returncode != 0:
        pytest.skip(f"no right to do this, or not without what Open MPI 5 needs: {shlex.join(enter)}")
    if place == "not root":
        os.chmod(tmp_path, 0o777)
        if subprocess.run([*enter, "test", "-x", os.environ["NUNATAK"]]).returncode != 0:
            pytest.skip("the program lies where another user may not read it")
        for folder in tmp_path.parents[:2]:
            os.chmod(folder, 0o711)
    for command in (command_of("nunatak", *DOME, ranks=3), command_of("nunatak", "-i", "o.nc", *DOME[4:-2], ranks=2),
                    command_of("nunatak-verify")):
        run = subprocess.run([*enter, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob("*.lock"))
