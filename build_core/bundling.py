"""Makes the two files in which a wheel carries the application's modules: penstock/bundle.py.

A server of them starts in two thirds of the time. The compiled modules' objects are linked to one
library. In each object the function that begins its module gets a name that no other module has:
``PyInit_server__table__keys`` for ``PyInit_keys``.
"""

from __future__ import annotations

import marshal
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from build_core.modules import PACKAGES
from build_core.variants import NORMAL
from penstock.bundle import BYTECODE, LIBRARY, entry_point

RENAME = "objcopy"
# These need Lua's functions, which are there when lua_library.py has loaded Lua.
APART = "server.parts.scripting.lua."


def can_bundle() -> bool:
    """Whether this system can: elsewhere each module stays a file of its own."""
    return sys.platform == "linux" and shutil.which(RENAME) is not None


def bundled(compiled: Iterable[str]) -> list[str]:
    """Those of the *compiled* modules that go into the library: their objects are there."""
    return [name for name in compiled if not name.startswith(APART) and object_of(name).exists()]


def object_of(module: str) -> Path:
    return NORMAL.objects / NORMAL.c_files / Path(*module.split(".")).with_suffix(".o")


def bundle(modules: Sequence[str], apart: Iterable[str], folder: Path) -> None:
    """Put the two files into *folder*: *modules* go into the library, *apart* nowhere.

    Raises CalledProcessError when the linker fails.
    """
    link(modules, folder / LIBRARY)
    plain = bytecode_of({*modules, *apart})
    (folder / BYTECODE).write_bytes(MAGIC_NUMBER + marshal.dumps((list(modules), plain)))


def link(modules: Sequence[str], library: Path) -> None:
    """Link the objects of *modules* to one *library*, without symbols that nobody looks for."""
    with tempfile.TemporaryDirectory() as folder:
        objects = [_renamed(module, Path(folder)) for module in modules]
        linker = sysconfig.get_config_var("LDSHARED").split()
        command = [*linker, "-s", "-Wl,-O1", "-o", str(library), *objects]
        subprocess.run(command, check=True)  # noqa: S603  the compiler's own linker


def _renamed(module: str, folder: Path) -> str:
    """A copy of the object of *module* in *folder*, which begins under a name of its own."""
    copy = str(folder / f"{entry_point(module)}.o")
    names = f"PyInit_{module.rpartition('.')[2]}=PyInit_{entry_point(module)}"
    command = [RENAME, f"--redefine-sym={names}", str(object_of(module)), copy]
    subprocess.run(command, check=True)  # noqa: S603  binutils', on a file of ours
    return copy


def bytecode_of(others: set[str]) -> dict[str, tuple[bool, bytes]]:
    """Whether it is a package, and its bytecode, for each module but *others*, by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted(Path(package).rglob("*.py")):
            is_package = path.name == "__init__.py"
            name = ".".join((path.parent if is_package else path.with_suffix("")).parts)
            if name not in others:
                code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
                found[name] = (is_package, marshal.dumps(code))
    return found
