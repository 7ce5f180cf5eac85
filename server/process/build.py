"""What this build is: its version, whether its core is compiled, and what serves its sockets."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import select
import sys
from functools import cache

import penstock
from server.process import identity

VERSION = penstock.__version__
REDIS_VERSION = "8.6.3"  # the redis whose behaviour clients may expect


def version_line() -> str:
    """What --version says, for people and for tools: these look for redis-server's v=.

    Redis server v=8.6.3 sha=00000000:0 malloc=libc bits=64 build=compiled penstock=0.1.0
    """
    core = "compiled" if compiled() else "uncompiled"
    return (
        f"{identity.title()} server v={REDIS_VERSION} sha=00000000:0 malloc=libc bits=64"
        f" build={core} penstock={VERSION}"
    )


def compiled() -> bool:
    """Whether the byte-level core really runs compiled.

    A .pxd that is not found is ignored in silence, so the class itself is asked.
    """
    from protocol.encoder import Encoder  # noqa: PLC0415  (asked, not used)

    return hasattr(Encoder, "__pyx_vtable__")


@cache
def compiler_version() -> str:
    """The version of gcc that has compiled Python and, with it, the core; 0.0.0 for another."""
    found = re.match(r"GCC (\d+\.\d+\.\d+)", platform.python_compiler())
    return found[1] if found else "0.0.0"


@cache
def build_id() -> str:
    """A number that differs between builds: of other versions, or with another Python."""
    return hashlib.sha256((version_line() + sys.version).encode()).hexdigest()[:16]


def uses_epoll() -> bool:
    """Whether an epoll of the server's own serves the sockets, and not the event loop.

    It does where the system has it, unless the environment's PENSTOCK_SOCKETS is "asyncio".
    """
    return hasattr(select, "epoll") and os.environ.get("PENSTOCK_SOCKETS") != "asyncio"
