"""Compiling: a module has the functions, types and variables that it reaches, and no others."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from build_core import reached_imports
from build_core.compilation import (
    compiled_file,
    flags_of,
    must_compile,
    put_in_place,
    waiting_file,
)
from build_core.modules import SHARED_CODE, declared_modules, inlined_only
from build_core.variants import DEBUG, NORMAL, PLAIN, VARIANTS, Variant
from build_ext import PROCESSES, alone, modules_of
from tests.worth import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

ROOT = Path(__file__).parents[1]

# Two modules that end alike: Cython by itself would know only one of them, by "octets".
SOURCES = {
    "near/__init__.py": "",
    "near/octets.pxd": """
cdef inline int doubled(int n):
    return n + n

cdef inline int quadrupled(int n):
    return doubled(doubled(n))

cdef inline int unreached(int n):
    return n
""",
    "far/__init__.py": "",
    "far/octets.pxd": "cdef inline int halved(int n):\n    return n // 2\n",
    "near/first.py": "class First:\n    def value(self):\n        return octets.quadrupled(1)\n",
    "near/first.pxd": "from near cimport octets\n\ncdef class First:\n    cpdef int value(self)\n",
    "near/second.py": "class Second:\n    def value(self):\n        return octets.halved(2)\n",
    "near/second.pxd": (
        "from far cimport octets\nfrom near.first cimport First\n\n"
        "cdef class Second:\n    cdef First first\n    cpdef int value(self)\n"
    ),
    "far/types.py": "LIMIT = 3\n\n\nclass Used:\n    pass\n",
    "far/types.pxd": "cdef int LIMIT\n\ncdef class Used:\n    cdef int number\n",
    "near/holder.py": "class Holder:\n    def value(self):\n        return self.used.number\n",
    "near/holder.pxd": (
        "from far.types cimport LIMIT, Used\n\n"
        "cdef class Holder:\n    cdef Used used\n    cpdef int value(self)\n"
    ),
    "near/maker.py": "class Maker:\n    def value(self):\n        self.used = Used()\n",
    "near/maker.pxd": (
        "from far.types cimport LIMIT, Used\n\n"
        "cdef class Maker:\n    cdef Used used\n    cpdef object value(self)\n"
    ),
    "near/limited.py": "class Limited:\n    def value(self):\n        return LIMIT\n",
    "near/limited.pxd": (
        "from far.types cimport LIMIT\n\ncdef class Limited:\n    cpdef int value(self)\n"
    ),
    "near/heir.py": "class Heir(Used):\n    pass\n",
    "near/heir.pxd": "from far.types cimport Used\n\ncdef class Heir(Used):\n    pass\n",
    "near/unchecked.py": "# cython: boundscheck=False\ndef of(items, at):\n    return items[at]\n",
    "near/unchecked.pxd": "cpdef object of(list items, Py_ssize_t at)\n",
}
TRANSLATE = """
import sys
from build_core.translation import Translation, stale, translate_all
from build_core.variants import VARIANTS
variant, *names = sys.argv[1:]
modules = [Translation(name, False, VARIANTS[variant]) for name in names]
for module in translate_all(list(stale(modules, ("near", "far"))), sorted(names), 2):
    print(module.name)
"""


def translated(folder: Path, *modules: str, variant: Variant = NORMAL) -> list[str]:
    """Translate what must be, of *modules* in *folder*; return the names of those that were."""
    run = [sys.executable, "-c", TRANSLATE, variant.name, *modules]
    environment = {"PYTHONPATH": f"{ROOT}:{folder}"}
    printed = subprocess.run(
        run, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return sorted(printed.stdout.split())


def c_of(folder: Path, module: str, variant: Variant = NORMAL) -> str:
    return (folder / variant.c_files / module.replace(".", "/")).with_suffix(".c").read_text()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_c_has_the_inline_functions_that_the_module_reaches_and_no_others(sources: Path) -> None:
    translated(sources, "near.first", "near.second")
    first, second = c_of(sources, "near.first"), c_of(sources, "near.second")
    for name, c in [("doubled", first), ("quadrupled", first), ("halved", second)]:
        assert f"octets_{name}(int __pyx_v_n) {{" in c
    assert "unreached" not in first + second
    assert "halved" not in first
    assert "octets_doubled(int __pyx_v_n) {" not in second


@pytest.mark.parametrize(
    ("module", "imports_type", "imports_variable"),
    [
        ("near.holder", False, False),  # holds what others make: that needs no type at run time
        ("near.maker", True, False),
        ("near.limited", False, True),
        ("near.heir", True, False),
    ],
)
def test_c_imports_the_types_and_variables_that_the_module_uses_and_no_others(
    sources: Path, module: str, imports_type: bool, imports_variable: bool
) -> None:
    translated(sources, "far.types", module)
    c = c_of(sources, module)
    assert ("ptype_3far_5types_Used = __Pyx_ImportType" in c) == imports_type
    assert ("(void **)&__pyx_vp_3far_5types_LIMIT" in c) == imports_variable
    assert reached_imports.MARK not in c


def test_what_has_changed_is_translated_and_c_depends_on_nothing_else(sources: Path) -> None:
    both = ["near.first", "near.second"]
    assert translated(sources, *both) == both
    together = c_of(sources, "near.second")
    (sources / "build/cython/near/second.c").unlink()
    assert translated(sources, *reversed(both)) == ["near.second"]
    assert c_of(sources, "near.second") == together
    assert translated(sources, *both) == []


def test_c_that_comes_out_the_same_is_not_written_again(sources: Path) -> None:
    both = ["near.first", "near.second"]
    translated(sources, *both)
    written = (sources / "build/cython/near/first.c").stat().st_mtime_ns
    (sources / "far/octets.pxd").write_text(SOURCES["far/octets.pxd"].replace("2", "3"))
    assert translated(sources, *both) == both
    assert (sources / "build/cython/near/first.c").stat().st_mtime_ns == written
    assert "octets_halved" in c_of(sources, "near.second")


def test_a_wrong_declaration_is_told_and_nothing_is_translated(sources: Path) -> None:
    (sources / "near/first.pxd").write_text("cdef class First(\n")
    with pytest.raises(subprocess.CalledProcessError):
        translated(sources, "near.second", "near.first")
    assert not (sources / "build").exists()


@pytest.mark.parametrize("module", ["storage.geo.area", "server.commands.geo.geo"])
def test_products_are_rounded_before_they_are_added_to(tmp_path: Path, module: str) -> None:
    source, assembly = tmp_path / "sum.c", tmp_path / "sum.s"
    source.write_text("double sum(double a, double b, double c) { return a * b + c; }")
    # Every arm64 can do both in one step; an x86-64 that is asked to use all that it has, too.
    able = ["-mfma"] if platform.machine() == "x86_64" else []
    compiler = sysconfig.get_config_var("CC").split()
    run = [*compiler, *able, *flags_of(module), "-S", str(source), "-o", str(assembly)]
    subprocess.run(run, check=True)
    assert "mul" in assembly.read_text()
    assert not re.search(r"\bv?fn?m(add|sub|la|ls)", assembly.read_text())


def test_the_checks_of_a_variant_count_more_than_what_a_module_says(sources: Path) -> None:
    for variant, checked in ((NORMAL, "0"), (DEBUG, "1")):
        translated(sources, "near.unchecked", variant=variant)
        c = c_of(sources, "near.unchecked", variant)
        found = re.search(r"__Pyx_GetItemInt_List\(__pyx_v_items, .*, 1, (\d), \d,", c)
        assert found is not None
        assert found[1] == checked


def test_each_variant_has_its_modules_and_objects_in_folders_of_its_own() -> None:
    for place in ("modules", "objects"):
        assert len({getattr(variant, place) for variant in VARIANTS.values()}) == len(VARIANTS)
    assert compiled_file("storage.glob").parent == Path("storage")


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_the_flags_of_a_variant_stand_behind_all_others_and_so_count(variant: Variant) -> None:
    flags = flags_of("storage.glob", variant)
    usual = [] if variant.is_plain else flags_of("storage.glob")
    assert flags == [*usual, *variant.flags]


def test_what_is_plain_is_left_to_cython(sources: Path) -> None:
    own = sources / "own.c"
    command = [sys.executable, "-m", "cython", "-3", "-X", "annotation_typing=False"]
    subprocess.run([*command, "near/maker.py", "-o", str(own)], cwd=sources, check=True)
    assert translated(sources, "near.maker", variant=PLAIN) == ["near.maker"]
    without_names = [
        [line for line in c.splitlines() if "/*" not in line and ".c" not in line]
        for c in (own.read_text(), c_of(sources, "near.maker", PLAIN))
    ]
    assert without_names[0] == without_names[1]


def test_last_names_of_inline_files_differ_as_cython_knows_them_by_these() -> None:
    last = [name.rpartition(".")[2] for name in declared_modules() if inlined_only(name)]
    assert sorted(last) == sorted(set(last))


def test_each_inline_file_is_in_the_page_that_says_what_it_is_worth() -> None:
    named = re.findall(r"`([\w.]+)`", (ROOT / "bench" / "README.md").read_text())
    files = [name for name in declared_modules() if inlined_only(name)]
    assert [name for name in files if not {name, name.rpartition(".")[2]} & set(named)] == []


@pytest.mark.parametrize("package", ["protocol", "storage.rax"])
def test_a_package_stands_for_its_modules_and_plain_ones_share_no_code(package: str) -> None:
    modules = modules_of(PLAIN, [package])
    assert modules
    assert all(name.startswith(f"{package}.") for name in modules)
    assert SHARED_CODE not in modules_of(PLAIN, [])
    assert modules_of(NORMAL, [])[0] == SHARED_CODE


# ------------------------------------------------------------------ what is compiled waits


@pytest.fixture
def waits(tmp_path: Path) -> Variant:
    """A variant of which the shared code and another module are compiled, and not in place."""
    variant = Variant("tried", tmp_path / "c", tmp_path / "objects", tmp_path / "modules")
    for module in (SHARED_CODE, "storage.glob"):
        waiting_file(module, variant).parent.mkdir(parents=True, exist_ok=True)
        waiting_file(module, variant).touch()
    return variant


def test_compiled_modules_are_put_in_place_when_all_are_done_the_shared_code_last(
    waits: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = []
    replace = Path.replace

    def noted_replace(path: Path, target: Path) -> Path:
        placed.append(target)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", noted_replace)
    put_in_place([SHARED_CODE, "storage.glob", "storage.octets"], waits)
    assert placed == [compiled_file("storage.glob", waits), compiled_file(SHARED_CODE, waits)]
    assert all(path.exists() for path in placed)


def test_what_waits_is_not_compiled_again_until_its_c_changes(waits: Variant) -> None:
    source = waits.c_files.with_suffix(".c")
    source.touch()
    os.utime(source, (1, 1))
    assert not must_compile("storage.glob", source, waits)
    assert must_compile("storage.octets", source, waits)
    os.utime(source, (4e9, 4e9))
    assert must_compile("storage.glob", source, waits)


def test_a_build_waits_for_another_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = [
        sys.executable,
        "-c",
        "from build_ext import PROCESSES, alone\nwith alone(): print('builds')",
    ]
    with alone():
        other = subprocess.Popen(
            run, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "Waiting for another build ...\n"
    assert other.communicate()[0] == "builds\n"


# A C compiler that has begun, and never ends.
ENDLESS_COMPILER = "#!/bin/sh\necho compiles\nexec sleep 1000\n"


def test_an_interrupt_ends_a_build_at_once(tmp_path: Path) -> None:
    shutil.copy(ROOT / "build_ext.py", tmp_path)
    shutil.copytree(ROOT / "build_core", tmp_path / "build_core")
    storage = tmp_path / "storage"
    storage.mkdir()
    for name in ("__init__", "compiled_code"):
        (storage / f"{name}.py").touch()
    for name in ("glob", "octets", "slice"):
        (storage / f"{name}.py").write_text("def nothing():\n    pass\n")
        (storage / f"{name}.pxd").write_text("cpdef object nothing()\n")
    compiler = tmp_path / "compiler"
    compiler.write_text(ENDLESS_COMPILER)
    compiler.chmod(0o755)
    build = subprocess.Popen(
        [sys.executable, "build_ext.py"],
        cwd=tmp_path,
        env={**os.environ, "CC": str(compiler)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert build.stdout is not None
    assert "compiles\n" in build.stdout
    os.killpg(build.pid, signal.SIGINT)
    said, _ = build.communicate(timeout=60)
    assert build.returncode == -signal.SIGINT
    assert said.count("compiles") < PROCESSES
