r"""The rows that XINFO STREAMS answers: cut apart and compared as bytes, read if they have changed.

    *2\r\n$2\r\n51\r\n*50\r\n                 the next cursor, and how many rows there are
      %15\r\n$3\r\nkey\r\n$6\r\norders\r\n...  each begins like this: a map whose first field is key

To read a row costs more than to make it, and few rows change from one look to the next.

The age of the oldest pending entry grows by itself, and is no change: when that entry was delivered
is compared instead.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import hiredis

from server.console.answers import json_text
from server.console.replies import end_of, text_value

FIRST_FIELD = b"$3\r\nkey\r\n"
AGE = re.compile(rb"(\$17\r\noldest-pending-ms\r\n:)([0-9]+)\r\n")


class Page(NamedTuple):
    """One answer."""

    cursor: bytes
    rows: list[bytes]


def read_page(reply: bytes) -> Page:
    """Cut *reply* into its rows."""
    at = reply.index(b"\r\n") + 2  # *2
    start = reply.index(b"\r\n", at) + 2
    end = end_of(reply, at)
    cursor = reply[start : end - 2]
    count, at = int(reply[end + 1 : reply.index(b"\r\n", end)]), reply.index(b"\r\n", end) + 2
    return Page(cursor, _rows(reply, at, count))


def _rows(reply: bytes, at: int, count: int) -> list[bytes]:
    """The *count* rows that begin *at*.

    They begin alike. If a name looks like such a beginning there are too many pieces, and the rows
    are gone through value by value.
    """
    if not count:
        return []
    beginning = reply[at : reply.index(b"\r\n", at) + 2] + FIRST_FIELD
    pieces = reply[at:].split(beginning)
    if len(pieces) == count + 1 and not pieces[0]:
        return [beginning + piece for piece in pieces[1:]]
    rows = []
    for _ in range(count):
        end = end_of(reply, at)
        rows.append(reply[at:end])
        at = end
    return rows


def key_of(row: bytes) -> bytes:
    """The name of the stream."""
    at = row.index(FIRST_FIELD) + len(FIRST_FIELD)
    start = row.index(b"\r\n", at) + 2
    return row[start : start + int(row[at + 1 : start - 2])]


def mark_of(row: bytes, ran_ms: int) -> int:
    """A hash of *row*, which was made at *ran_ms*; equal as long as nothing has happened."""

    def since(found: re.Match[bytes]) -> bytes:
        return b"%b%d" % (found[1], ran_ms - int(found[2]))

    return hash(AGE.sub(since, row))


def row_text(row: bytes) -> str:
    """A row as JSON; its maps are objects."""
    reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")
    reader.feed(row)
    value = reader.gets()
    text = json_text(value)
    return text if text.isascii() or _is_utf8(text) else json_text(_without_surrogates(value))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_surrogates(value: Any) -> Any:
    """*value* with what is no text in base64."""
    if isinstance(value, str):
        return text_value(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value
