"""nunatak for Spack (1.0 or later). There is no release to download: Spack builds a source tree
that is there already.

    spack env create nunatak && spack env activate nunatak
    spack repo add scripts/spack_repo/nunatak
    spack add nunatak@main
    spack develop --path "$PWD" nunatak@main
    spack install
"""
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Nunatak(CMakePackage):
    """A mini-app of an ice sheet model: a hybrid SSA/SIA time step on a PETSc DMDA, PICO, and
    pluggable parallel NetCDF output."""

    version("main")
    license("BSD-3-Clause")

    variant("openmp", default=False, description="Kernels with OpenMP threads")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:+mpi+hypre~complex")
    depends_on("netcdf-c@4.9:+mpi")
    depends_on("parallel-netcdf@1.12:")
    depends_on("kokkos@4.3:4+serial")  # 5 asks for C++20
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("udunits")
    depends_on("nlohmann-json@3:")
    depends_on("catch2@3:", when="+tests")
    conflicts("^openmpi@5:~romio", msg="without ROMIO nunatak writes through OMPIO, which hangs in "
              "writes that fail: openmpi+romio")

    def cmake_args(self):
        return [self.define("NUNATAK_BACKEND",
                            "OpenMP" if self.spec.satisfies("+openmp") else "Serial"),
                self.define_from_variant("NUNATAK_TESTS", "tests"),
                self.define("NUNATAK_PERF", False),
                self.define("NUNATAK_UNITY", True),
        ]

    # `spack test run nunatak`: one process, in a folder of its own
    def test_run(self):
        """ten years of a small ice sheet; the sums of its manifest are those of the file"""
        nunatak = Executable(self.prefix.bin.nunatak)
        nunatak("-init", "marine", "-grid_dx", "48km", "-grid_Mz", "11", "-run_years", "10", "-o",
                "marine.nc")
        Executable(join_path(self.prefix.bin, "nunatak-verify"))("marine.nc")

    def test_distances(self):
        """solvers on 1 to 64 virtual ranks give the distances of the reference solver"""
        distance = Executable(join_path(self.prefix.bin, "nunatak-distance"))
        distance("-mask", "shelves", "-grid_Mx", "200", "-solvers", "sweep,bfs", "-virtual_ranks",
                 "1,64", "-compare")
