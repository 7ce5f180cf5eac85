"""Which modules are compiled, and whether this machine can compile."""

from __future__ import annotations

import os
import select
import shutil
import sysconfig
from pathlib import Path

PACKAGES = ("octets", "protocol", "storage", "server")
SHARED_CODE = "storage.compiled_code"  # what all compiled modules import: build_core/shared_code.py
EPOLL = "server.network.epoll."  # on Linux alone; nothing imports it elsewhere


def declared_modules() -> list[str]:
    """All modules with a .pxd, by dotted name, except those that this system does not support."""
    modules = [
        ".".join(pxd.with_suffix("").parts)
        for package in PACKAGES
        for pxd in sorted(Path(package).rglob("*.pxd"))
        if pxd.with_suffix(".py").exists() and pxd.name != "__init__.pxd"
    ]
    return [name for name in modules if hasattr(select, "epoll") or not name.startswith(EPOLL)]


def inlined_only(module: str) -> bool:
    """Whether the .pxd of *module* has only inline functions: then its .py is never compiled."""
    source = Path(*module.split(".")).with_suffix(".pxd").read_text()
    return source.startswith("# inline only")


def compiled_modules() -> list[str]:
    """The modules that are compiled, the first of which all others import."""
    return [SHARED_CODE, *(name for name in declared_modules() if not inlined_only(name))]


def obstacle() -> str | None:
    """Why this machine cannot compile, and what to do about it; None if it can."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if not shutil.which(os.environ.get("CC", compiler)):
        return "there is no C compiler (on Debian: apt-get install gcc)"
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return "Python.h is missing (on Debian: apt-get install python3-dev)"
    return None
