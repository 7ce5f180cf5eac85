"""The addresses of sockets, as CLIENT LIST shows them: ``host:port``, or ``path:0``."""

from __future__ import annotations

import os
from socket import AF_INET6, AF_UNIX, EAI_NONAME, gaierror
from typing import Any

UNKNOWN = "?:0"
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104  (they are compared with, not bound)


def address(family: int, name: Any) -> str:
    """The address of a socket of *family*; *name* is what getsockname or getpeername gave."""
    if family == AF_UNIX:
        return f"{os.fsdecode(name)}:0"
    if not name:
        return UNKNOWN
    host, port = name[:2]
    return f"[{host}]:{port}" if family == AF_INET6 else f"{host}:{port}"


def host_name(text: str) -> bytes:
    """*text* as getaddrinfo takes it. Raises OSError if no host can have that name.

    A text would be encoded by IDNA there, which takes long to import, and raises other errors.
    """
    if text.isascii():
        return text.encode()
    try:
        return text.encode("idna")
    except UnicodeError:
        raise gaierror(EAI_NONAME, "Name or service not known") from None


def is_wildcard(family: int, name: Any) -> bool:
    """Whether a socket bound to *name* takes connections to several addresses of the machine."""
    return family != AF_UNIX and name[0] in WILDCARDS
