"""Python functions around the inline C functions of a .pxd, so that tests can call them.

A module whose .pxd begins with ``# inline only`` is written twice: compiled modules of the server
use its .pxd, and Python uses its .py. The extension that is built here has a thin Python function
around each C function that the .py has too. Pointers are made from Python objects:

    raw.Raw      from bytes
    uint8_t *    from a bytearray

Functions that take or return other pointers are in pointers.pyx.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("octets", "protocol", "storage", "server")

FUNCTION = re.compile(
    r"^cdef inline (?P<result>[\w.* ]+?[ *])(?P<name>[a-z]\w*)\((?P<args>[^)]*)\)", re.MULTILINE
)
PLAIN = re.compile(r"^def (\w+)\(", re.MULTILINE)
POINTERS = {"Raw": ("bytes", "raw.of_bytes({})"), "uint8_t *": ("bytearray", "raw.into({})")}


@dataclass(frozen=True)
class Inline:
    """A function that is written twice: inline in the .pxd, and in the .py."""

    module: str
    name: str
    result: str
    args: tuple[tuple[str, str], ...]  # type and name of each

    @property
    def wrapper(self) -> str:
        """The name of the Python function around it."""
        return f"{self.module.replace('.', '_')}__{self.name}"

    @property
    def source(self) -> str:
        """The source of the Python function around it."""
        taken, given = [], []
        for kind, name in self.args:
            outside, inside = POINTERS.get(kind, (kind, "{}"))
            taken.append(f"{outside} {name}")
            given.append(inside.format(name))
        call = f"{self.module.replace('.', '_')}.{self.name}({', '.join(given)})"
        return f"def {self.wrapper}({', '.join(taken)}):\n    return {call}\n"


def inline_modules() -> list[str]:
    """All modules that begin with ``# inline only``."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.pxd"))
        if path.read_text().startswith("# inline only")
    ]


def twins(module: str) -> set[str]:
    """The functions that *module* has in both languages."""
    path = ROOT.joinpath(*module.split("."))
    compiled = {match["name"] for match in FUNCTION.finditer(path.with_suffix(".pxd").read_text())}
    return compiled & set(PLAIN.findall(path.with_suffix(".py").read_text()))


def inline_functions(module: str) -> list[Inline]:
    """The functions of *module* that are written twice and can be called from Python."""
    path = ROOT.joinpath(*module.split("."))
    plain = twins(module)
    found = []
    for match in FUNCTION.finditer(path.with_suffix(".pxd").read_text()):
        args = tuple(_argument(text) for text in match["args"].split(",") if text.strip())
        function = Inline(module, match["name"], match["result"].strip(), args)
        if function.name in plain and not _has_other_pointers(function):
            found.append(function)
    return found


def _argument(text: str) -> tuple[str, str]:
    kind, _, name = text.strip().replace("*", " * ").rpartition(" ")
    return " ".join(kind.split()), name


def _has_other_pointers(function: Inline) -> bool:
    kinds = [kind for kind, _ in function.args if kind not in POINTERS]
    return any("*" in kind or "[" in kind or kind in POINTERS for kind in (*kinds, function.result))


def source_of(modules: list[str], extra: str) -> str:
    """The extension's source; *extra* is appended to it.

    The last parts of the *modules*' names must differ, since Cython would mix them up.
    """
    lines = ["# cython: language_level=3, boundscheck=False, wraparound=False"]
    lines += ["from libc.stdint cimport *"]
    if "storage.rdb.raw" in modules:
        lines += ["from storage.rdb cimport raw"]
    for module in modules:
        package, _, name = module.rpartition(".")
        lines.append(f"from {package} cimport {name} as {module.replace('.', '_')}")
    functions = [function for module in modules for function in inline_functions(module)]
    return "\n".join([*lines, *(function.source for function in functions), extra])


def build(name: str, source: str, folder: Path) -> ModuleType:
    """The extension *name*, compiled in *folder* unless it exists already."""
    declared = sorted(
        path
        for part in ("octets", "protocol", "storage", "server")
        for path in (ROOT / part).rglob("*.pxd")
    )
    digest = hashlib.sha256(source.encode() + b"".join(path.read_bytes() for path in declared))
    built = folder / digest.hexdigest()[:16] / (name + sysconfig.get_config_var("EXT_SUFFIX"))
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(dir=built.parent))  # others may build the same meanwhile
        pyx, made = own / f"{name}.pyx", own / built.name
        pyx.write_text(source)
        c = pyx.with_suffix(".c")
        flags = ["-shared", "-fPIC", "-O0", "-w", f"-I{sysconfig.get_paths()['include']}"]
        compiler = sysconfig.get_config_var("CC").split()
        for command in (
            [sys.executable, "-m", "cython", "-3", "-I", str(ROOT), str(pyx), "-o", str(c)],
            [*compiler, *flags, str(c), "-o", str(made)],
        ):
            subprocess.run(command, cwd=ROOT, check=True)
        made.replace(built)
    spec = importlib.util.spec_from_file_location(name, built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
