"""What runs on a GPU becomes PTX by the preset cuda, and nothing in it has a fused multiply-add or
anything approximate, or the bits of a GPU would not be those of the CPU. Division and roots are one
instruction in PTX, rounded correctly; functions of CUDA's libm would show, since they are made of
fma. On few cores: the kernels and nunatak-step, which runs a whole step; from eight cores on, the
model, too. Needs nvcc, and the source of Kokkos that scripts/setup.sh leaves; no GPU. Tools, tests
and benchmarks, files without Kokkos and the linking are left to the presets of the CPU."""

import concurrent.futures
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
RUNS_THERE = re.compile(
    r"/(kernels/|miniapp/base/|miniapp/model/|miniapp/main\.cpp|miniapp/bench/nunatak_step\.cpp|"
    r"miniapp/(CMakeFiles/nunatak_(base|model)\.dir)/)")  # last: files compiled together
OTHER_BITS = re.compile(
    r"^\s*(?:@\S+\s+)?((?:fma|mad)\.[\w.]*f(?:16|32|64)\S*|"
    r"\w+\.(?:[\w.]*\.)?(?:approx|full|ftz)\b\S*)",
    re.M)


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


def run(words, where):
    path = f"{nvcc_folder()}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NVCC_APPEND_FLAGS": "-arch=sm_90",
                   "CMAKE_GENERATOR": "Ninja"}
    done = subprocess.run(words, cwd=where, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (f"{shlex.join(map(str, words))}\n{done.stdout[-2000:]}"
                                  f"{done.stderr[-4000:]}")
    return done.stdout


def ptx_of(command, output):
    """What nvcc makes of one of compile_commands.json, with its flags."""
    words = shlex.split(
        run([*shlex.split(command["command"]), "--nvcc-wrapper-show"], command["directory"]))
    assert "-fmad=false" in words
    words[words.index("-c")] = "--ptx"
    words[words.index("-o") + 1] = output
    run(words, command["directory"])
    return output.read_text()


def of_kernels(commands, folder):
    """The kernels in one file, which parses Kokkos once, and nunatak-step."""
    kernels = [c for c in commands if c["file"].startswith(f"{SOURCE}/kernels/")]
    together = folder / "kernels.cpp"
    together.write_text("".join(f'#include "{c["file"]}"\n' for c in kernels))
    first = next(c for c in kernels if c["file"].endswith("hybrid.cpp"))
    step = next(c for c in commands if c["file"].endswith("nunatak_step.cpp"))
    return [{**first, "command": first["command"].replace(first["file"], str(together))}, step]


@pytest.mark.skipif(nvcc_folder() is None, reason="not compiled for CUDA: expected nvcc on the "
                    "PATH or in /usr/local/cuda/bin")
@pytest.mark.skipif(not KOKKOS.exists(), reason="not compiled for CUDA: expected Kokkos in "
                    "build/deps/kokkos-source (scripts/setup.sh)")
def test_what_runs_on_a_gpu_compiles_and_no_kernel_fuses(tmp_path):
    run(["cmake", "--preset", "cuda", "-B", tmp_path], SOURCE)
    commands = [c for c in json.loads((tmp_path / "compile_commands.json").read_text())
                if "nvcc_wrapper" in c["command"] and "--host-only" not in c["command"] and
                RUNS_THERE.search(c["file"]) and "kokkos" not in c["file"] and
                "/tests/" not in c["file"]]
    assert len(commands) > 10
    if os.cpu_count() < 8:
        commands = of_kernels(commands, tmp_path)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = list(
            pool.map(ptx_of, commands, [tmp_path / f"{n}.ptx" for n in range(len(commands))]))
    print(f"{len(files)} files, {sum(ptx.count('.entry') for ptx in files)} kernels")
    ptx = "".join(files)
    assert (ptx.count(".entry") > 200 and ptx.count("mul.rn.f64") > 1500 and
            ptx.count("mul.rn.f32") > 100)
    other = found(ptx)
    assert not other


def test_what_is_looked_for_is_seen():
    kernel = ".visible .entry step(\n.param .u64 a\n)\n{\n\t%s\n}\n"
    for bad in ("fma.rn.f64 \t%fd1, %fd2, %fd3, %fd4;", "@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;",
                "mad.f64 %fd1, %fd2, %fd3, %fd4;", "sqrt.approx.f32 %f1, %f2;",
                "ex2.approx.ftz.f32 %f1, %f2;", "div.full.f32 %f1, %f2, %f3;",
                "add.ftz.f32 %f1, %f2, %f3;", "rcp.approx.ftz.f64 %fd1, %fd2;"):
        assert list(found(kernel % bad).values()) == [{"step"}], bad
    for good in ("mul.rn.f64 \t%fd1, %fd2, %fd3;", "mad.lo.s32 %r1, %r2, %r3, %r4;",
                 "div.rn.f64 %fd1, %fd2, %fd3;", "sqrt.rn.f32 %f1, %f2;",
                 "// fma.rn.f64", "mad.wide.u32 %rd1, %r2, 8, %rd3;"):
        assert not found(kernel % good), good
