"""What is in the wheel and in the source distribution: all that is needed, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import build_core.wheel
import penstock
from build_core import bundling
from build_core.modules import compiled_modules
from penstock import bundle
from tests.package.environment import ROOT, Environment, made_sdist, made_wheel, printed

CARRIED = "penstock/_application/"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
SOURCES = ("penstock", "pyspark_penstock", "server", "storage", "protocol", "octets", "build_core")
BUILD_FILES = {"pyproject.toml", "setup.py", "build_ext.py", "MANIFEST.in", "README.md", "LICENSE"}


def tracked(*folders: str) -> set[str]:
    """The files of the repository in *folders*."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def wheel_names() -> set[str]:
    with zipfile.ZipFile(made_wheel()) as wheel:
        return {name for name in wheel.namelist() if ".dist-info/" not in name}


def compiled_files() -> set[str]:
    """The bundle, and the modules that are apart from it."""
    apart = [name for name in compiled_modules() if name.startswith(bundling.APART)]
    files = {f"{CARRIED}{name.replace('.', '/')}{SUFFIX}" for name in apart}
    return files | {CARRIED + bundle.LIBRARY, CARRIED + bundle.BYTECODE}


def test_the_wheel_holds_every_file_but_declarations_and_each_compiled_module(
    wheel_names, monkeypatch
):
    monkeypatch.chdir(ROOT)
    libraries = tracked("penstock", "pyspark_penstock")
    application = {
        f"{CARRIED}{name}" for name in tracked("server", "storage", "protocol", "octets")
    }
    sources = {name for name in application if not name.endswith(".pxd")}
    assert wheel_names == libraries | sources | compiled_files()


def test_the_bundle_holds_every_module_that_is_no_file_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(made_wheel()) as wheel:
        for name in (bundle.LIBRARY, bundle.BYTECODE):
            (tmp_path / name).write_bytes(wheel.read(CARRIED + name))
    bundled = bundle.Bundle(str(tmp_path))
    for name in tracked("server", "storage", "protocol", "octets"):
        if name.endswith(".py"):
            parts = Path(name).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            is_apart = module in compiled_modules() and module.startswith(bundling.APART)
            assert (bundled.find_spec(module) is None) == is_apart, module


def test_bytecode_of_another_interpreter_is_passed_over(tmp_path):
    (tmp_path / bundle.BYTECODE).write_bytes(b"magic, but another one's")
    assert bundle.Bundle(str(tmp_path)).find_spec("server.app") is None


def test_the_wheel_is_for_this_interpreter_and_this_system(wheel_names):
    tags = made_wheel().stem.split("-")[2:]
    python = f"cp{sysconfig.get_config_var('py_version_nodot')}"
    assert tags[:2] == [python, python]
    assert tags[2] != "any"
    assert any(name.endswith(SUFFIX) for name in wheel_names)


def test_the_metadata_brings_the_spark_side_as_an_extra_and_the_command():
    with zipfile.ZipFile(made_wheel()) as wheel:
        folder = f"penstock-{penstock.__version__}.dist-info"
        metadata = wheel.read(f"{folder}/METADATA").decode().splitlines()
        points = wheel.read(f"{folder}/entry_points.txt").decode()
        top_level = wheel.read(f"{folder}/top_level.txt").decode().split()
    assert f"Version: {penstock.__version__}" in metadata
    assert any(line.startswith("Requires-Dist: pyspark") and "spark" in line for line in metadata)
    assert "penstock = penstock.command_line:main" in points
    assert top_level == ["penstock", "pyspark_penstock"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sources")
    with tarfile.open(made_sdist()) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"penstock-{penstock.__version__}"


def test_the_source_distribution_holds_what_a_build_needs_and_nothing_compiled(sources):
    names = {str(path.relative_to(sources)) for path in sources.rglob("*") if path.is_file()}
    assert tracked(*SOURCES) | BUILD_FILES <= names
    assert not [name for name in names if name.endswith((".so", ".pyc", ".c"))]
    assert not [name for name in names if name.startswith(("tests/", "bench/", "fuzz/", ".ci/"))]


BUILD_WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def build(sources: Path, folder: Path, compiles: str, **environment: str):
    """Make a wheel of *sources* in *folder*, with PENSTOCK_COMPILE=*compiles*."""
    return subprocess.run(
        [sys.executable, "-c", BUILD_WHEEL, str(folder)],
        cwd=sources,
        env={**os.environ, "PENSTOCK_COMPILE": compiles, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def uncompiled_wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel from the sources, made where there is no C compiler."""
    folder = tmp_path_factory.mktemp("wheel")
    done = build(sources, folder, "", CC="no-such-compiler")
    assert done.returncode == 0, done.stderr
    assert "Penstock is built WITHOUT its compiled core" in done.stderr
    return next(folder.glob("*.whl"))


def test_without_a_compiler_a_wheel_is_made_that_fits_everywhere(uncompiled_wheel):
    assert uncompiled_wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(uncompiled_wheel) as wheel:
        assert not [name for name in wheel.namelist() if name.endswith(".so")]
        assert f"{CARRIED}server/parts/scripting/lua/sandbox.lua" in wheel.namelist()


def test_what_it_installs_says_that_it_is_not_compiled(uncompiled_wheel, installed, outside):
    environment = Environment(outside / "uncompiled")
    environment.pip("install", "--no-deps", str(uncompiled_wheel))
    (environment.packages / "needed.pth").write_text(f"{installed.packages}\n")
    assert "build=uncompiled" in printed(environment.command("penstock"), "--version").stdout
    done = printed(environment.command("penstock"), "--port", "0", "--unixsocket", "/no/such")
    assert "The core is NOT COMPILED" in done.stdout


def test_a_build_that_must_compile_fails_where_it_cannot(sources, tmp_path):
    done = build(sources, tmp_path, "yes", CC="no-such-compiler")
    assert done.returncode != 0
    assert "cannot be compiled: there is no C compiler" in done.stderr
    assert list(tmp_path.glob("*.whl")) == []


def test_what_does_not_compile_makes_no_wheel(tmp_path, monkeypatch):
    (tmp_path / "build_ext.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_COMPILE", raising=False)
    monkeypatch.setattr(build_core.wheel, "obstacle", lambda: None)
    with pytest.raises(SystemExit, match="with PENSTOCK_COMPILE=no it is left out"):
        build_core.wheel.compile_application()


def test_what_lies_about_in_the_tree_gets_into_no_wheel(sources, tmp_path):
    """Compiled modules of other interpreters or of sources that are gone, data, and old builds."""
    tree = tmp_path / "tree"
    shutil.copytree(sources, tree)
    strays = [f"storage/glob{SUFFIX}", "storage/glob.cpython-39-x86_64-linux-gnu.so",
              f"storage/gone{SUFFIX}", "server/dump.rdb", "server/app.py.orig"]  # fmt: skip
    for name in strays:
        (tree / name).write_bytes(b"")
    old = tree / "build/lib/penstock/_application/server/removed.py"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.touch()
    assert build(tree, tmp_path, "no").returncode == 0
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = {name.removeprefix(CARRIED) for name in wheel.namelist()}
    assert "server/app.py" in names
    assert not names & {*strays, "server/removed.py"}
