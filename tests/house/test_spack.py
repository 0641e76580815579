"""What Spack reads: every spec of spack.yaml is a string and looks like a spec; the package asks for the same versions."""

import pathlib
import re

import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "scripts/spack_repo/nunatak/packages/nunatak/package.py"
SPEC = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(?P<versions>@=?[\w.:,-]+)?(?P<rest>( ?[+~][a-z0-9_-]+)*)")


def specs():
    return yaml.safe_load((SOURCE / "spack.yaml").read_text())["spack"]["specs"]


def test_every_spec_is_one():
    assert len(specs()) > 5
    wrong = [spec for spec in specs() if not isinstance(spec, str) or not SPEC.fullmatch(spec)]
    assert not wrong, f"spack.yaml: expected strings like 'petsc@3.18: +mpi', found {wrong}"


def test_package_and_environment_agree():
    asked = {m["name"]: m["versions"] for m in map(SPEC.fullmatch, specs())}
    depends = re.findall(r'depends_on\("([^"]+)"', PACKAGE.read_text())
    assert len(depends) > 5
    for name, versions in ((m["name"], m["versions"]) for m in map(SPEC.fullmatch, depends)):
        if versions:
            assert asked.get(name) == versions, f"package.py: {name}: expected {asked.get(name)} as in spack.yaml, found {versions}"


def test_package_compiles():
    compile(PACKAGE.read_text(), PACKAGE, "exec")
