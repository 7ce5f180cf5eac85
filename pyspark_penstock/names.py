"""Names of streams, groups and consumers, any bytes to the server, for those who want text.

the server          b"caf\\xe9\\n"
this package        "caf\\udce9\\n"    text; key is the way back
columns and JSON    "caf\\ufffd\\n"    utf8
people              caf\\xe9\\n        readable: the escapes as they stand here, on one line
"""

from __future__ import annotations

import re

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # and what else ends a line


def key(name: str) -> bytes:
    """A key as the server has it; names that are not UTF-8 survive the way there and back."""
    return name.encode("utf-8", "surrogateescape")


def text(name: bytes | str) -> str:
    """A key as options and columns have it."""
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def utf8(name: str) -> str:
    """*name* as any program takes it: what is not UTF-8 becomes replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def readable(text: str) -> str:
    """*text* with names in it as people see it: what is not UTF-8, and controls, as escapes.

    So no name ends a line, colours a terminal or cannot be printed.
    """
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return CONTROLS.sub(escape, shown)


def escape(control: re.Match[str]) -> str:
    """A control character as Python writes it."""
    return control[0].encode("unicode_escape").decode()
