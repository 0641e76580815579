"""No kernel calls libm, whose bits depend on the processor: kernels/grid/elementary.hpp has what
they need."""
import pathlib
import re

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
LIBM = re.compile(
    r"\b(?:std|Kokkos)::(exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|sin|cos|tan|asin|acos|"
    r"atan|atan2|sinh|cosh|tanh|erf|erfc|fma)\s*\(")
# exact solutions
SETTING_UP = {p for p in (KERNELS / "cases").glob("*.hpp")
              if p.stem not in ("continent", "angles", "noise")}
# rounds of a network: no field depends on them
MODELS_OF_TIME = {KERNELS / "grid/virtual/loggp.hpp"}


def calls(path):
    return [f"{path.relative_to(KERNELS.parent)}:{n}: {call[0]}"
            for n, line in enumerate(path.read_text().splitlines(), 1)
            for call in LIBM.finditer(line.split("//")[0])]


def test_no_kernel_calls_libm():
    files = [p for p in sorted(KERNELS.rglob("*.?pp")) if p not in SETTING_UP | MODELS_OF_TIME]
    assert len(files) > 50
    found = [call for path in files for call in calls(path)]
    assert not found, "\n".join(["expected functions of elementary::, found", *found])
    assert any(calls(path) for path in SETTING_UP)  # the pattern finds what there is
