"""The library of Lua 5.1, which the package ``lupa`` brings.

This module must be imported before those that call Lua's functions: compiled, they find these when
they are loaded themselves. The server does so when the first script comes.

Raises ImportError if there is no such library.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

MODULE = "lua51"  # in lupa: Lua 5.1, as Redis has it


def _find_library() -> Path:
    """The file with Lua's functions. ``import lupa`` would load more than is needed."""
    spec = find_spec("lupa")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for file in sorted(Path(folder).glob(f"{MODULE}.*")):
            if file.suffix in {".so", ".dylib"}:
                return file
    raise ImportError("scripts need the package lupa, with its Lua 5.1")


# Its names become global, so that the compiled modules of this package find them when they load.
LIBRARY = ctypes.PyDLL(str(_find_library()), mode=ctypes.RTLD_GLOBAL | os.RTLD_NOW)
if not hasattr(LIBRARY, "lua_pcall"):
    raise ImportError("lupa keeps the functions of its Lua 5.1 to itself")


def function(name: str, result: type | None, *arguments: type) -> Callable[..., int]:
    """The C function *name*, whose first argument is an interpreter."""
    found = LIBRARY[name]
    found.argtypes = [ctypes.c_void_p, *arguments]
    found.restype = result
    return found
