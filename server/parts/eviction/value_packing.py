"""Small values that are not in use are packed beside their keys.

A hash, set, sorted set or list becomes an object when a command may change it, and its key is loose
then (storage/keyspace/settings.py). A value that is used again soon need not be unpacked again,
so MOST_LOOSE keys may be loose. When there are more, the half that has been loose longest is
packed: at the end of a turn, when no command has a reference to a value, and while a log is
replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from server.observe.part import Part
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.settings import LooseKeys

MOST_LOOSE: Final = 4096  # keys; their objects take some 200 bytes each
MOST = MOST_LOOSE  # the same as a C number
AT_ONCE = 4096  # keys of a database, so that clients wait for some milliseconds at most


class ValuePacking(Part):
    """Packs values of *databases*, whose loose keys *loose_keys* counts."""

    __slots__ = ("_databases", "_loose_keys")

    def __init__(self, databases: Sequence[Keyspace], loose_keys: LooseKeys) -> None:
        self._databases = databases
        self._loose_keys = loose_keys

    def pack_some(self) -> None:
        """Pack values if too many keys are loose. No command may be running."""
        if self._loose_keys.count > MOST:
            self._pack()

    def _pack(self) -> None:
        for db in self._databases:
            db.pack(min(db.loose + 1 >> 1, AT_ONCE))

    def tick(self, now_ms: int) -> None:
        self.pack_some()
