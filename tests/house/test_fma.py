"""Code for GPUs has no fused multiply-add and nothing approximate, or its bits would not be those of the CPU: the PTX of
multigrid.cpp, pico.cpp, newton.cpp and hybrid.cpp of kernels/, which have the kernels of a step. Division and roots are one
instruction in PTX, rounded correctly; functions of CUDA's libm would show, since they are made of fma. Needs nvcc, and the source of Kokkos that scripts/setup.sh leaves."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KOKKOS = SOURCE / "build/deps/kokkos-source"
OTHER_BITS = re.compile(r"^\s*(?:@\S+\s+)?((?:fma|mad)\.[\w.]*f(?:16|32|64)\S*|\w+\.(?:[\w.]*\.)?(?:approx|full|ftz)\b\S*)", re.M)


def nvcc_folder():
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    return pathlib.Path(nvcc).parent if nvcc else None


def found(ptx):
    """{what: in which kernels}"""
    places = {}
    for kernel in re.split(r"^(?=(?:\.\w+ )*\.(?:entry|func)\b)", ptx, flags=re.M):
        name = re.match(r"(?:\.\w+ )*\.(?:entry|func)\s*(?:\([^)]*\)\s*)?(\S+?)\(", kernel)
        for what in OTHER_BITS.findall(kernel):
            places.setdefault(what, set()).add(name[1] if name else "?")
    return places


def ptx_of(sources, folder):
    """Of all of them. By the compiler and with the flags of the preset cuda: configured, not built."""
    path = f"{nvcc_folder()}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NVCC_APPEND_FLAGS": "-arch=sm_90", "CMAKE_GENERATOR": "Ninja"}

    def run(words, where):
        done = subprocess.run(words, cwd=where, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{shlex.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    run(["cmake", "--preset", "cuda", "-B", folder, "-DNUNATAK_BUILD=kernels", "-DNUNATAK_TESTS=ON", "-DNUNATAK_KERNEL_TESTS=ON"], SOURCE)
    commands = {c["file"]: c for c in json.loads((folder / "compile_commands.json").read_text())}
    for source in sources:
        command = commands[str(SOURCE / source)]
        words = shlex.split(run([*shlex.split(command["command"]), "--nvcc-wrapper-show"], command["directory"]))
        assert "-fmad=false" in words
        words[words.index("-c")] = "--ptx"
        words[words.index("-o") + 1] = str(folder / f"{pathlib.Path(source).stem}.ptx")
        run(words, command["directory"])
    return "".join((folder / f"{pathlib.Path(source).stem}.ptx").read_text() for source in sources)


@pytest.mark.skipif(nvcc_folder() is None, reason="expected nvcc on the PATH or in /usr/local/cuda/bin")
@pytest.mark.skipif(not KOKKOS.exists(), reason="expected the source of Kokkos in build/deps/kokkos-source (scripts/setup.sh)")
def test_no_kernel_fuses(tmp_path):
    ptx = ptx_of([f"kernels/{name}.cpp" for name in ("multigrid/multigrid", "pico/pico", "ssa/newton", "step/hybrid")], tmp_path)
    assert ptx.count(".entry") > 60 and ptx.count("mul.rn.f64") > 500 and ptx.count("mul.rn.f32") > 300
    other = found(ptx)
    assert not other


def test_what_is_looked_for_is_seen():
    kernel = ".visible .entry step(\n.param .u64 a\n)\n{\n\t%s\n}\n"
    for bad in ("fma.rn.f64 \t%fd1, %fd2, %fd3, %fd4;", "@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;", "mad.f64 %fd1, %fd2, %fd3, %fd4;",
                "sqrt.approx.f32 %f1, %f2;", "ex2.approx.ftz.f32 %f1, %f2;", "div.full.f32 %f1, %f2, %f3;", "add.ftz.f32 %f1, %f2, %f3;",
                "rcp.approx.ftz.f64 %fd1, %fd2;"):
        assert list(found(kernel % bad).values()) == [{"step"}], bad
    for good in ("mul.rn.f64 \t%fd1, %fd2, %fd3;", "mad.lo.s32 %r1, %r2, %r3, %r4;", "div.rn.f64 %fd1, %fd2, %fd3;", "sqrt.rn.f32 %f1, %f2;",
                 "// fma.rn.f64", "mad.wide.u32 %rd1, %r2, 8, %rd3;"):
        assert not found(kernel % good), good
