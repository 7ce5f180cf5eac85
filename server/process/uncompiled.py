"""A process that has begun without the compiled core stays without it.

`make run` serves at once, and compiles meanwhile. Much is imported later, when it is first needed:
Lua, TLS, replication. If such a module came compiled, it would not go with those that are there.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = tuple(
    f"{ROOT / package}{os.sep}" for package in ("octets", "protocol", "storage", "server")
)


def stay_uncompiled() -> None:
    """Let Python find sources alone in the application's folders, from now on."""
    sys.path_hooks.insert(0, _sources_of)
    for folder in filter(_is_ours, list(sys.path_importer_cache)):
        del sys.path_importer_cache[folder]


def _sources_of(folder: str) -> FileFinder:
    """Finds modules in *folder*. Raises ImportError if it is not ours: others find them there."""
    if not _is_ours(folder):
        raise ImportError(folder)
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


def _is_ours(folder: str) -> bool:
    return f"{folder}{os.sep}".startswith(FOLDERS)
