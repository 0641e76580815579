"""The state of the emulated cluster is believed only if it is this user's: otherwise it chooses
what is loaded and what is killed.

No cluster runs here: what a stranger could have planted is enough.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest
from clusters import CLUSTER, SOURCE, call, needs_root

sys.path.insert(0, str(SOURCE / "perf" / "cluster"))
sys.path.insert(0, str(SOURCE / "perf"))
import cluster_state  # noqa: E402


@pytest.fixture
def victim():
    """A process that must not be killed."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    assert process.poll() is None
    process.kill()
    process.wait()


def plant(folder, victim, start=None):
    """What `cluster up` would have written."""
    folder.mkdir()
    (folder / "room.pid").write_text(f"{victim.pid}{'' if start is None else f' {start}'}\n")
    (folder / "cluster.json").write_text(
        json.dumps({"hosts": {"node1": "198.18.0.1"}, "nodes": 1, "programs": str(folder)}))
    return folder


def everything_refused(folder, expected):
    environment = {**os.environ, "NUNATAK_CLUSTER": str(folder)}
    for words in (("status",), ("run", "node1", "true"), ("mpirun", "-n", 1, "true"), ("slurm",),
                  ("up", "-n", 2), ("down",)):
        done = call(environment, *words, check=False)
        assert (done.returncode == 1 and done.stderr.count("\n") == 1 and
                expected in done.stderr), (words, done.stderr)
    assert os.path.lexists(folder)


def of_another_user(path):
    os.chown(path, 65534, 65534)


def behind_a_link(path):
    other = path.parent.parent / "other"
    path.rename(other)
    path.symlink_to(other)


def for_everybody(path):
    path.chmod(0o777)


@pytest.mark.parametrize("change, planted, expected", [
    *(pytest.param(of_another_user, name, "found one of the user with number 65534",
                   marks=needs_root) for name in ("", "cluster.json", "room.pid")),
    (behind_a_link, "", "found a link"), (behind_a_link, "cluster.json", "found a link"),
    (for_everybody, "", "found mode 0777"), (for_everybody, "room.pid", "found mode 0777"),
    (for_everybody, "..", "can write the folder above it")])
def test_what_a_stranger_could_have_made_is_refused(tmp_path, victim, change, planted, expected):
    (tmp_path / "above").mkdir(mode=0o700)
    folder = plant(tmp_path / "above/c", victim, cluster_state.start_time(victim.pid))
    change(pathlib.Path(os.path.normpath(folder / planted)))
    everything_refused(folder, expected)


@pytest.mark.parametrize("start", [None, 0])
def test_a_process_that_only_has_the_number_is_neither_entered_nor_killed(tmp_path, victim, start):
    folder = plant(tmp_path / "c", victim, start)
    environment = {**os.environ, "NUNATAK_CLUSTER": str(folder)}
    assert "no cluster runs" in call(environment, "run", "node1", "true", check=False).stderr
    assert call(environment, "down").stderr == ""
    assert not folder.exists()


def test_the_agent_enters_no_process_that_only_has_the_number(tmp_path, victim):
    folder = tmp_path / "c"
    folder.mkdir()
    for start in ("", "0"):
        (folder / "node1.pid").write_text(f"{victim.pid} {start}\n")
        done = subprocess.run([CLUSTER.parent / "agent", "node1", "touch", str(tmp_path / "done")],
                              capture_output=True, text=True,
                              env={**os.environ, "NUNATAK_CLUSTER": str(folder)})
        assert done.returncode == 1 and "found that it has ended" in done.stderr
    assert not (tmp_path / "done").exists()


def private_folder(monkeypatch, runtime):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return cluster_state.private_folder()


def test_state_lies_in_the_runtime_folder_of_the_user(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    assert private_folder(monkeypatch, tmp_path) == str(tmp_path / "nunatak")
    assert (tmp_path / "nunatak").stat().st_mode & 0o777 == 0o700
    (tmp_path / "nunatak").rmdir()
    (tmp_path / "nunatak").symlink_to("/tmp")
    with pytest.raises(cluster_state.StateError, match="found a link"):
        private_folder(monkeypatch, tmp_path)


def test_a_runtime_folder_that_others_may_enter_is_not_used(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(cluster_state, "make_folder", made.append)
    tmp_path.chmod(0o755)
    for runtime in (tmp_path, tmp_path / "none", "relative", ""):
        private_folder(monkeypatch, runtime)
    assert made == [f"/tmp/nunatak-{os.getuid()}"] * 4


def test_a_study_keeps_the_state_of_its_cluster_there(tmp_path, monkeypatch):
    from scaling_study import machine
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = machine.cluster_folder(tmp_path / "out")
    assert folder.startswith(str(tmp_path / "nunatak" / "nunatak-study-"))
    (tmp_path / "nunatak").chmod(0o777)
    with pytest.raises(machine.StudyError, match="found mode 0777"):
        machine.cluster_folder(tmp_path / "out")
