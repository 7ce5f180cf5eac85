"""Where in its history a snapshot was made: then a replica need not copy all data after a restart.

    repl-id         the name of the history, 40 letters and digits
    repl-offset     its length in bytes, up to the snapshot
    repl-stream-db  the database that a reader of the stream has selected there

These are aux fields of the RDB file, as Redis writes them; see server/parts/replication/history.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Protocol

_ID = re.compile(rb"[0-9a-zA-Z]{40}")
_NUMBER = re.compile(rb"[0-9]{1,18}")


class StoredHistory(NamedTuple):
    """The history *id* up to *offset*; *db* is selected there."""

    id: str
    offset: int
    db: int

    def aux(self) -> dict[bytes, bytes]:
        """The fields that report it."""
        return {
            b"repl-stream-db": b"%d" % self.db,
            b"repl-id": self.id.encode(),
            b"repl-offset": b"%d" % self.offset,
        }


class HistoryKeeper(Protocol):
    """Knows where in a history the data are now."""

    def stored(self) -> StoredHistory | None:
        """That place; None if no replica can resync from it."""


class NoHistory:
    """Nobody replicates."""

    def stored(self) -> StoredHistory | None:
        return None


def history_in(aux: Mapping[bytes, bytes]) -> StoredHistory | None:
    """What the fields tell; None if that is nothing, or nonsense."""
    name, offset = aux.get(b"repl-id", b""), aux.get(b"repl-offset", b"")
    db = aux.get(b"repl-stream-db", b"0")
    if not (_ID.fullmatch(name) and _NUMBER.fullmatch(offset) and _NUMBER.fullmatch(db)):
        return None
    return StoredHistory(name.decode(), int(offset), int(db))
