"""The application's modules as a compiled wheel carries them: in two files, not in five hundred.

    _application/modules.cpython-311-x86_64-linux-gnu.so   the compiled modules
    _application/modules.bytecode                          their names; the others' bytecode

To find, open and read a file for each module was a third of the time that the server needs to
start. The sources lie beside them, for tracebacks and readers; an edit of these changes nothing.
Where there is no bundle (a checkout, a wheel that is not compiled), modules are found as ever.

build_core/bundling.py makes the two files. The second begins with the magic number of the
interpreter whose bytecode it holds; any other passes it over.
"""

from __future__ import annotations

import _imp
import importlib
import marshal
import os
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from types import ModuleType
from typing import Any

BYTECODE = "modules.bytecode"
LIBRARY = "modules" + EXTENSION_SUFFIXES[0]


MAGIC_NUMBER: bytes = vars(importlib)["_bootstrap_external"].MAGIC_NUMBER  # without importlib.util
_fix_file_name: Any = vars(_imp)["_fix_co_filename"]  # as importlib does with a .pyc


def entry_point(module: str) -> str:
    """What the library calls *module*, whose last word alone may be that of another one, too."""
    return module.replace(".", "__")


class Bundle:
    """What the two files in *folder* hold: nothing, if they do not exist."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        compiled, plain = _read(os.path.join(folder, BYTECODE))
        self._compiled = frozenset(compiled)
        self._plain: dict[str, tuple[bool, bytes]] = plain
        self._library = LibraryLoader(os.path.join(folder, LIBRARY))
        self._bytecode = BytecodeLoader(plain)

    def find_spec(self, name: str) -> ModuleSpec | None:
        """The module *name*, if it is in the bundle."""
        if name in self._compiled:
            return self._spec(name, self._library, is_package=False)
        found = self._plain.get(name)
        return None if found is None else self._spec(name, self._bytecode, is_package=found[0])

    def _spec(self, name: str, loader: Any, is_package: bool) -> ModuleSpec:
        path = os.path.join(self._folder, *name.split("."))
        origin = os.path.join(path, "__init__.py") if is_package else path + ".py"
        spec = ModuleSpec(name, loader, origin=origin, is_package=is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(path)
        return spec


class LibraryLoader:
    """Loads a compiled module from the library at *path*."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        named = ModuleSpec(entry_point(spec.name), None, origin=self._path)
        module: ModuleType = _imp.create_dynamic(named)
        module.__name__, module.__package__ = spec.name, spec.parent
        module.__file__ = spec.origin
        return module

    def exec_module(self, module: ModuleType) -> None:
        _imp.exec_dynamic(module)


class BytecodeLoader:
    """Loads a module from its bytecode: *modules* has that for each name."""

    def __init__(self, modules: dict[str, tuple[bool, bytes]]) -> None:
        self._modules = modules

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to importlib."""

    def exec_module(self, module: ModuleType) -> None:
        code = marshal.loads(self._modules[module.__name__][1])  # noqa: S302  a part of the package
        _fix_file_name(code, module.__file__)
        exec(code, module.__dict__)  # noqa: S102  a module is run


def _read(path: str) -> tuple[list[str], dict[str, tuple[bool, bytes]]]:
    """The names of the compiled modules, and the others' bytecode; nothing, if it is not ours."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return [], {}
    if not data.startswith(MAGIC_NUMBER):
        return [], {}
    compiled, plain = marshal.loads(data[len(MAGIC_NUMBER) :])  # noqa: S302  a part of the package
    return compiled, plain
