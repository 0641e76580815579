"""cmake/FindNetCDFPar.cmake takes header and library from the same place: from what the user points
at, else from the system's. A folder that the user names for any library, and that has none, is an
error."""

import os
import pathlib
import shutil
import subprocess

import pytest

MODULES = pathlib.Path(__file__).resolve().parents[2] / "cmake"
DEBIAN = "lib/x86_64-linux-gnu/netcdf/mpi"

# scripts/setup.sh installs it; there may be no make
GENERATOR = {"CMAKE_GENERATOR": "Ninja"} if shutil.which("ninja") else {}

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="expected cmake in the PATH")


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def installed(root, library_folder="lib"):
    touch(root / "include/netcdf_par.h")
    touch(root / library_folder / "libnetcdf.so")
    return root


def debian_like(root):
    """What Debian has in /usr: the serial library and the parallel one."""
    touch(root / DEBIAN / "include/netcdf_par.h")
    touch(root / "lib/x86_64-linux-gnu/libnetcdf_mpi.so")
    touch(root / "lib/x86_64-linux-gnu/libnetcdf.so")
    return root


def find(tmp_path, options=(), environment=None):
    """(folder of the header, the library) that CMake finds."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(find NONE)\nset(CMAKE_LIBRARY_ARCHITECTURE "
        "x86_64-linux-gnu)\n"
        f"list(APPEND CMAKE_MODULE_PATH {MODULES})\nfind_package(NetCDFPar REQUIRED)\n"
        'message(STATUS "found ${NETCDF_PAR_INCLUDE_DIR} ${NETCDF_PAR_LIBRARY}")\n')
    run = subprocess.run(
        ["cmake", "-S", project, "-B", project / "build", *options], capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin:" + str(pathlib.Path(shutil.which("cmake")).parent),
             **GENERATOR, **(environment or {})})
    assert run.returncode == 0, run.stderr
    line = next(line for line in run.stdout.splitlines() if line.startswith("-- found "))
    return [pathlib.Path(word).resolve() for word in line.split()[2:]]


@pytest.mark.parametrize("library_folder", ["lib", "lib64"])
def test_netcdf_dir_has_both(tmp_path, library_folder):
    root = installed(tmp_path / "spack", library_folder)
    assert find(tmp_path, environment={"NETCDF_DIR": str(root)}) == [
        root / "include", root / library_folder / "libnetcdf.so"]


def test_netcdf_dir_comes_before_a_prefix(tmp_path):
    root, other = installed(tmp_path / "spack"), installed(tmp_path / "other")
    assert find(tmp_path, [f"-DCMAKE_PREFIX_PATH={other}"],
                {"NETCDF_DIR": str(root)})[1] == root / "lib/libnetcdf.so"


def test_debians_header_has_debians_library(tmp_path):
    root = debian_like(tmp_path / "usr")
    assert find(tmp_path, environment={"NETCDF_DIR": str(root)}) == [
        root / DEBIAN / "include", root / "lib/x86_64-linux-gnu/libnetcdf_mpi.so"]


@pytest.mark.parametrize("library, variable, files", [
    ("NetCDFPar", "NETCDF_DIR", ["include/netcdf_par.h"]),
    ("PnetCDF", "PNETCDF_DIR", ["include/pnetcdf.h"]),
    ("UDUNITS2", "UDUNITS2_DIR", ["include/udunits2.h"]),
    ("PETSc", "PETSC_DIR", ["lib/pkgconfig/PETSc.pc"]), ("PETSc", "PETSC_ARCH", [])])
@pytest.mark.parametrize("given", ["environment", "-D"])
def test_a_folder_without_the_library_is_an_error(tmp_path, library, variable, files, given):
    if library == "PETSc" and shutil.which("pkg-config") is None:
        pytest.skip("expected pkg-config in the PATH")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(find NONE)\n"
        f"list(APPEND CMAKE_MODULE_PATH {MODULES})\nfind_package({library})\n")
    words = [f"-D{variable}=/nonexistent"] if given == "-D" else []
    environment = {"PATH": os.environ["PATH"], **GENERATOR,
                   **({} if words else {variable: "/nonexistent"})}
    run = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", *words],
                         capture_output=True, text=True, env=environment)
    said = " ".join(run.stderr.split())
    assert (run.returncode != 0 and f"{variable}: expected a folder" in said and
            "'/nonexistent'" in said), run.stderr
    assert all(name in said for name in files)
