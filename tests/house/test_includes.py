"""Each folder includes only what it may: the table below is the layering of the project. `pytest
tests/house` needs no build."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# folder: (folders whose headers it may include besides its own, libraries whose headers it may
# include)
ALLOWED = {
    "common": ([], ["JSON"]),
    "kernels/grid": ([], ["Kokkos", "system"]),  # system: huge pages (list.hpp)
    "kernels/cases": (["kernels/grid"], ["Kokkos"]),
    "kernels/ice": (["kernels/grid"], ["Kokkos"]),
    "kernels/multigrid": (["kernels/grid"], ["Kokkos"]),
    "kernels/ssa": (["kernels/grid", "kernels/ice", "kernels/labels", "kernels/multigrid"],
                    ["Kokkos"]),
    "kernels/labels": (["kernels/grid"], ["Kokkos"]),
    "kernels/distance": (["kernels/grid"], ["Kokkos"]),
    "kernels/pico": (["kernels/grid", "kernels/ice", "kernels/labels", "kernels/distance"],
                     ["Kokkos"]),
    "kernels/step": (["kernels/grid", "kernels/ice", "kernels/ssa", "kernels/multigrid",
                      "kernels/pico"], ["Kokkos"]),
    "io/base": (["common"], ["MPI", "JSON", "system"]),
    "io/data": (["common", "io/base"], ["MPI", "system"]),
    "io/disk": (["common", "io/base"], ["MPI", "NetCDF", "PnetCDF", "system"]),
    "io/formats": (["common", "io/base", "io/data", "io/disk"],
                   ["MPI", "NetCDF", "PnetCDF", "system"]),
    "io/layouts": (["common", "io/base", "io/data", "io/formats"], ["MPI"]),
    "io/read": (["common", "io/base", "io/data", "io/disk", "io/formats"],
                ["MPI", "NetCDF", "PnetCDF", "JSON"]),
    "io/methods": (["common", "io/base", "io/data", "io/disk", "io/formats", "io/layouts"],
                   ["MPI", "system"]),
    "io/durable": (["common", "io/base", "io/data", "io/disk", "io/read"],
                   ["MPI", "JSON", "system"]),
    "io/write": (["common", "io/base", "io/data", "io/disk", "io/formats", "io/layouts", "io/read",
                  "io/methods", "io/durable"], ["MPI", "JSON", "system"]),
    "miniapp/base": (["common", "kernels/grid", "kernels/pico", "kernels/ssa", "io"],
                     ["Kokkos", "MPI", "UDUNITS", "JSON", "system"]),
    "miniapp/model": (["common", "kernels", "io", "miniapp/base"],
                      ["Kokkos", "MPI", "PETSc", "JSON", "system"]),
    "miniapp/kit": (["common", "kernels", "io", "miniapp/base"], ["MPI", "JSON", "system"]),
    "miniapp/bench": (["common", "kernels", "io", "miniapp/base"], ["MPI", "JSON", "system"]),
    "miniapp/files": (["common", "io", "miniapp/base"], ["MPI", "JSON", "system"]),
    "miniapp": (["common", "kernels", "io", "miniapp/base", "miniapp/model"], []),
}

LIBRARIES = {
    "Kokkos": r"Kokkos_.*|impl/Kokkos.*",
    "MPI": r"mpi(-ext)?\.h",
    "NetCDF": r"netcdf(_par)?\.h",
    "PnetCDF": r"pnetcdf\.h",
    "PETSc": r"petsc.*\.h",
    "UDUNITS": r"udunits2\.h",
    "JSON": r"nlohmann/.*",
    "system": r"(dlfcn|emmintrin|execinfo|fcntl|link|malloc|poll|unistd|stdio|sys/.*|linux/.*)"
              r"\.?h?",
}


def folder_of(path):
    """The entry of ALLOWED that a file belongs to: the longest that its path begins with."""
    parts = path.split("/")[:-1]
    for n in range(len(parts), 0, -1):
        if "/".join(parts[:n]) in ALLOWED:
            return "/".join(parts[:n])
    return None


def complaints(path, text):
    folder = folder_of(path)
    if folder is None:
        return [f"{path}: its folder has no entry in tests/house/test_includes.py"]
    folders, libraries = ALLOWED[folder]
    found = []
    for quoted, system in re.findall(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', text,
                                     re.MULTILINE):
        if quoted:
            target = folder_of(quoted)
            if (target != folder and
                not any(target == f or (target or "").startswith(f + "/") for f in folders)):
                found.append(f"{path} includes {quoted}: {folder} may include "
                             f"{', '.join([folder] + folders)}")
        elif "." in system or "/" in system:  # not the standard library
            name = next((n for n, pattern in LIBRARIES.items() if re.fullmatch(pattern, system)),
                        "a library not listed")
            if name not in libraries:
                found.append(f"{path} includes <{system}> ({name}): {folder} may use "
                             f"{', '.join(libraries) or 'no library'}")
    return found


def sources():
    for top in ("common", "kernels", "io", "miniapp"):
        for path in sorted((SOURCE / top).rglob("*.[hc]pp")):
            yield path.relative_to(SOURCE).as_posix(), path.read_text()


def test_every_include_is_allowed():
    found = [c for path, text in sources() for c in complaints(path, text)]
    assert not found, "\n" + "\n".join(found)


def test_folders_of_io_only_look_down():
    def floor(folder):  # endless where two include each other
        return 1 + max((floor(below) for below in ALLOWED[folder][0] if below.startswith("io/")),
                       default=0)

    assert max(floor(folder) for folder in ALLOWED if folder.startswith("io/")) <= 6


def test_each_library_is_kept_out():
    assert complaints("kernels/grid/x.hpp", "#include <mpi.h>\n")
    assert complaints("io/formats/x.cpp", '#include "kernels/grid/patch.hpp"\n')
    assert complaints("miniapp/kit/x.cpp", '#include "miniapp/model/state.hpp"\n')
    assert complaints("miniapp/base/x.cpp", "#include <petscvec.h>\n")
    assert complaints("elsewhere/x.cpp", "")
    assert not complaints("io/formats/x.cpp",
                          '#include "io/data/schema.hpp"\n#include <netcdf.h>\n#include <vector>\n')
    assert not complaints("miniapp/model/x.cpp",
                          '#include "kernels/ice/sia.hpp"\n#include <petscdm.h>\n')
