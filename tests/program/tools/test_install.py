"""What `cmake --install` puts into a prefix works there. Job scripts are run by bash with stand-ins
for srun, mpiexec, scontrol, qsub."""
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import FOLDER, assert_same_bits

START = "-init marine -grid_dx 96km -grid_Mz 5 -stress sia -dt_max 0.02"
RUN = "-stress sia -dt_max 0.02 -run_until 4 -timeseries_file series.nc"
# starts two ranks; where there is a file `limit` they get SIGUSR1 in their third step, as from
# Slurm before the limit
STARTER = """#!/bin/bash
if [ -e limit ]; then
  mv limit log
  $NUNATAK_MPIEXEC 2 "$@" >> log &
  while [ "$(grep -c ^step log)" -lt 3 ] && kill -0 $!; do sleep 0.02; done
  kill -USR1 $!
  wait $!
else
  exec $NUNATAK_MPIEXEC 2 "$@"
fi
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    to = tmp_path_factory.mktemp("prefix")
    done = subprocess.run(["cmake", "--install", FOLDER.parent, "--prefix", to],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


def test_installed_programs_run_without_the_build(prefix, tmp_path):
    programs = sorted(path.name for path in (prefix / "bin").iterdir())
    assert {"nunatak", "nunatak-distance", "nunatak-io", "nunatak-verify"} <= set(programs)
    for name in programs:
        assert str(FOLDER.parent).encode() not in runpath(
            prefix / "bin" / name), f"{name}: a path to a library of the build"
        for file in (f"man/man1/{name}.1", f"bash-completion/completions/{name}"):
            assert (prefix / "share" / file).stat().st_size > 100
    options = prefix / "share/nunatak/inputs/halfar.yaml"
    done = subprocess.run([prefix / "bin/nunatak", "-options_file", options, "-run_years", "100"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([prefix / "bin/nunatak-verify", "halfar.nc"],
                          cwd=tmp_path).returncode == 0
    assert os.access(prefix / "share/nunatak/kit/regress.sh", os.X_OK)


def runpath(path):
    """Where a program looks for its libraries."""
    return subprocess.run(["readelf", "-d", path], capture_output=True, check=True).stdout


def test_an_installed_study_runs(prefix, tmp_path):
    (tmp_path / "small.yaml").write_text(
        "options: -init dome -grid_Mx 11 -grid_Mz 5\nstrong: {ranks: [1]}\nrepetitions: 1\n")
    study = [sys.executable, prefix / "share/nunatak/perf/study"]
    environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
    for words in (["run", "small.yaml", "--system", "local"], ["report", "study-small-local"]):
        done = subprocess.run([*study, *words], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("study-small-local/page/index.html"))


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def submit(tmp_path):
    """submit("run.slurm", *words): the script is run in tmp_path as a job of 77."""
    for name in ("srun", "mpiexec"):
        program(tmp_path / name, STARTER)
    for name in ("scontrol", "qsub"):
        program(tmp_path / name, f'#!/bin/sh\necho {name} "$@" >> again\n')
    environment = {**os.environ, "PATH": f"{tmp_path}:{FOLDER}:{os.environ['PATH']}",
                   "PBS_O_WORKDIR": str(tmp_path)}

    def run(script, *words, **variables):
        own = {"SLURM_JOB_ID": "77"} if script.endswith("slurm") else {}
        return subprocess.run(["bash", script, *words], cwd=tmp_path,
                              env={**environment, **own, **variables}, capture_output=True,
                              text=True, timeout=120)
    return run


@pytest.mark.parametrize("name, resubmitted", [("run.slurm", "scontrol requeue 77\n"),
                                               ("run.pbs", "qsub -A x -q y run.pbs\n")])
def test_a_run_is_continued_until_it_is_complete(prefix, nunatak, submit, tmp_path, name,
                                                 resubmitted):
    text = (prefix / "share/nunatak/batch" / name).read_text()
    text, edited = re.subn(r"^start=\(.*\)", f"start=({START} -overwrite)", text, flags=re.M)
    text, also = re.subn(r"^run=\(.*\)", f"run=({RUN})", text, flags=re.M)
    assert edited == also == 1
    (tmp_path / name).write_text(text)
    (tmp_path / "limit").touch()
    first = submit(name)
    assert first.returncode == 85, first.stdout + first.stderr
    assert (tmp_path / "again").read_text() == resubmitted
    last = submit(name)
    assert last.returncode == 0, last.stdout + last.stderr
    assert (tmp_path / "again").read_text() == resubmitted
    nunatak(*START.split(), *"-run_until 4 -timeseries_file whole_series.nc -o whole.nc".split(),
            ranks=1, status=0)
    assert_same_bits(tmp_path / "whole.nc", tmp_path / "run.nc")
    assert_same_bits(tmp_path / "whole_series.nc", tmp_path / "series.nc")


@pytest.mark.parametrize("name, words, variables, called", [
    ("study.slurm", ["a/first.yaml", "-J", "account=x"], {},
     "run a/first.yaml --system slurm --output study-first-slurm -J account=x"),
    ("study.pbs", [], {"FILE": "a/first.yaml", "OPTIONS": "--full"},
     "run a/first.yaml --system local --output study-first-pbs --full")])
def test_a_job_runs_a_study_and_makes_its_page(prefix, submit, tmp_path, name, words, variables,
                                               called):
    shutil.copy(prefix / "share/nunatak/batch" / name, tmp_path)
    program(tmp_path / "study", '#!/bin/sh\necho "$@" $SLURM_JOB_ID\n[ "$1" = report ] || exit 3\n')
    done = submit(name, *words, STUDY="./study", **variables)
    assert done.returncode == 3, done.stderr  # that of the runs
    assert done.stdout == f"{called}\nreport {called.split()[5]}\n"  # and no variable of this job
