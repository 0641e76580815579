"""Where a run may find itself: as a user who is not root, in a time namespace, without HOME and
TMPDIR, without /proc."""
import os
import shlex
import shutil
import subprocess

import pytest
from conftest import command_of, refused

DOME = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-run_steps", "2", "-timeseries_file",
        "s.nc", "-o", "o.nc", "-report", "r.json", "-io_transport", "async:1")
PLACES = {
    "not root": ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
    "time namespace": ["unshare", "-T", "--fork"],
    "no /proc": ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"],
    "no HOME, no TMPDIR": ["env", "-u", "HOME", "-u", "TMPDIR"],
}


SHORT = ("-init", "dome", "-grid_Mx", "11", "-grid_Mz", "3", "-run_steps", "1", "-verbose", "no")


@pytest.mark.parametrize(
    "told", [{"PMI_SIZE": "4", "PMI_RANK": "0"}, {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"},
             {"OMPI_COMM_WORLD_SIZE": "2"}, {"SLURM_NTASKS": "4", "SLURM_PROCID": "3"}],
    ids=lambda told: next(iter(told)))
def test_one_of_several_processes_that_mpi_does_not_know(nunatak, tool, told):
    """As by a launcher of another MPI library: four runs would write the same files."""
    run = nunatak(*SHORT, ranks=None, environment=told)
    refused(run, "one of several processes of a launcher", "-alone")
    nunatak(*SHORT, "-alone", ranks=None, environment=told, status=0)
    assert tool("labels", "-mask", "full", environment=told).status == 2
    tool("labels", "-mask", "full", "-alone", environment=told, status=0)
    if "OMPI_COMM_WORLD_SIZE" not in told:  # what mpiexec says itself
        nunatak(*SHORT, ranks=1, environment=told, status=0)


def test_one_process_in_a_batch_script(nunatak):
    run = nunatak(*SHORT, ranks=None, environment={"SLURM_NTASKS": "4", "SLURM_PROCID": "0"},
                  status=0)
    assert "one process in a job of 4 tasks" in run.err


def test_threads_beyond_reason(nunatak):
    refused(nunatak(*SHORT, environment={"OMP_NUM_THREADS": "99999"}),
            "OMP_NUM_THREADS: expected at most", "found 99999")


def test_a_working_folder_that_is_gone(tmp_path):
    run = subprocess.run(["sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh",
                          *command_of("nunatak", *SHORT)], cwd=tmp_path,
                         capture_output=True, text=True, timeout=60)
    assert (run.returncode == 2 and
            "nunatak: error: the working folder was removed" in run.stderr), run.stderr


@pytest.mark.parametrize("place", PLACES)
def test_a_run_and_its_files(tmp_path, place):
    enter = PLACES[place]
    start = [*enter, *shlex.split(os.environ["NUNATAK_MPIEXEC"]), "1", "true"]
    if shutil.which(enter[0]) is None or subprocess.run(start, capture_output=True).returncode != 0:
        pytest.skip(
            f"no right to do this, or not without what Open MPI 5 needs: {shlex.join(enter)}")
    if place == "not root":
        os.chmod(tmp_path, 0o777)
        if subprocess.run([*enter, "test", "-x", os.environ["NUNATAK"]]).returncode != 0:
            pytest.skip("the program lies where another user may not read it")
        for folder in tmp_path.parents[:2]:
            os.chmod(folder, 0o711)
    for command in (command_of("nunatak", *DOME, ranks=3),
                    command_of("nunatak", "-i", "o.nc", *DOME[4:-2], ranks=2),
                    command_of("nunatak-verify")):
        run = subprocess.run([*enter, *command], cwd=tmp_path, capture_output=True, text=True,
                             timeout=120)
        assert run.returncode == 0, run.stderr
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob("*.lock"))
