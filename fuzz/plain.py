"""Loads the plain Python of storage beside its compiled modules, so that fuzzers can compare them.

The plain Python also guides the fuzzer, which cannot see into compiled code.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import FunctionType, ModuleType
from typing import Any

from fuzz.engine import ROOT, instrument_func

PACKAGE = "storage"


def load_as_built(*names: str) -> list[ModuleType]:
    """Import the modules *names*, and all modules of storage that they import, once more."""
    for name in list(filter(_is_storage, sys.modules)):
        del sys.modules[name]
    return [import_module(name) for name in names]


def load_plain(*names: str) -> list[ModuleType]:
    """Import *names* from their sources, though they are compiled, with instrumented functions."""
    sys.meta_path.insert(0, _PlainFinder)
    try:
        modules = load_as_built(*names)
        for name, module in list(sys.modules.items()):
            if _is_storage(name):
                _instrument(module)
    finally:
        sys.meta_path.remove(_PlainFinder)
    return modules


def _is_storage(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


class _PlainFinder:
    """Finds the sources of storage's modules, compiled or not."""

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        if not _is_storage(name):
            return None
        place = ROOT.joinpath(*name.split("."))
        source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        inside = [str(place)] if place.is_dir() else None
        return spec_from_file_location(name, source, submodule_search_locations=inside)


def _instrument(module: ModuleType) -> None:
    """Let the fuzzer see which branches the functions and methods of *module* take."""
    classes = [thing for thing in vars(module).values() if isinstance(thing, type)]
    for owner in (module, *classes):
        if getattr(owner, "__module__", PACKAGE).startswith(PACKAGE):
            for name, function in list(vars(owner).items()):
                if isinstance(function, FunctionType):
                    setattr(owner, name, instrument_func(function))
