"""Names of streams, groups and consumers. On the server they are bytes; here are their text forms.

on the server       b"caf\\xe9\\n"     made by ``key``
in this package     "caf\\udce9\\n"    made by ``text``: surrogates for bytes that are not UTF-8
in columns, JSON    "caf\\ufffd\\n"    made by ``utf8``: replacement characters
for people          caf\\xe9\\n        made by ``readable``: escapes, on one line
"""

from __future__ import annotations

import re

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # and other line ends


def key(name: str) -> bytes:
    """The name as bytes, as the server has it."""
    return name.encode("utf-8", "surrogateescape")


def text(name: bytes | str) -> str:
    """The name as text, as options and columns have it.

    Bytes that are not UTF-8 become surrogates.
    """
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def utf8(name: str) -> str:
    """The name as valid UTF-8. What is not UTF-8 becomes replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def readable(text: str) -> str:
    """Text for people: bytes that are not UTF-8, and control characters, become escapes.

    So no name can end a line, colour a terminal, or fail to print.
    """
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return CONTROLS.sub(escape, shown)


def escape(control: re.Match[str]) -> str:
    """The escape sequence of a control character, as Python writes it."""
    return control[0].encode("unicode_escape").decode()
