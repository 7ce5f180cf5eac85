"""The names of all streams, in an order in which they can be gone through page by page.

    cursor     1   2   3   4   5   6        first = 1: the cursor of the first place
    order      a   b   -   d   e   f        a page begins at any place; what is gone is a hole

While somebody asks for the streams of a database, their names are kept here. They are gathered from
its keys when the first one asks, some keys at a time, and new streams are entered at the end from
then on. A stream that is gone is found out when a page comes to it. When nobody has asked for
KEPT_MS the names go, and a new key costs one look at a flag again.

A cursor is never given to another place: when the holes are closed up, or the names gathered anew,
the places get new cursors, which are greater. So who goes through all pages meets each stream that
is there all the time at least once, and one that has been met may come again, as with SCAN.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.config.parameters import Config
from server.observe.part import Part
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.stream.stream import Stream

AT_ONCE = 2000  # keys that are gathered in one step: defends others against a pause
KEPT_MS = 60_000  # since somebody has asked; a scrape a minute keeps them
FEW_HOLES = 64


class DatabaseIndex:
    """The names of the streams of *database*. *first* is the cursor of the first place."""

    __slots__ = ("_database", "_known", "_order", "_scanned", "_table", "first", "is_complete",
                 "used_ms")  # fmt: skip

    def __init__(self, database: Keyspace) -> None:
        self._database = database
        self._order: list[bytes | None] = []
        self._known: set[bytes] = set()
        self._table: KeyTable | None = None
        self._scanned = 0  # SCAN's cursor in the keys that are still to be gathered
        self.first = 1
        self.is_complete = False
        self.used_ms = 0

    def __len__(self) -> int:
        """About how many streams there are, as far as they are known."""
        return len(self._known)

    @property
    def end(self) -> int:
        """The cursor of the place after the last one."""
        return self.first + len(self._order)

    def _begin(self) -> None:
        """Gather all names: the database has other keys now."""
        self.first = self.end
        self._order = []
        self._known = set()
        self._table = self._database.table
        self._scanned = 0
        self.is_complete = False

    def check(self) -> None:
        """Gather anew if the database has other keys now; let go what it had."""
        if self._table is not self._database.table:
            self._begin()

    def gather(self) -> None:
        """Look at some more keys of the database. O(AT_ONCE)."""
        self.check()
        if not self.is_complete:
            self._scanned, keys = self._database.scan(self._scanned, AT_ONCE)
            for key in keys:
                self.add(key)
            self.is_complete = self._scanned == 0

    def add(self, key: bytes) -> None:
        """Enter *key* if a stream is there."""
        if key not in self._known and type(self._database.table.look(key)) is Stream:
            self._known.add(key)
            self._order.append(key)

    def page(self, cursor: int, most: int) -> tuple[int, list[tuple[int, bytes]]]:
        """The streams in the next *most* places, each with the cursor of the place after it.

        Before them stands the cursor of the place after the last of these. That, or an earlier one
        if the caller uses fewer of the streams, goes to next_page().
        """
        at = min(max(cursor - self.first, 0), len(self._order))
        end = min(at + most, len(self._order))
        found = []
        for place in range(at, end):
            name = self._order[place]
            if name is not None and type(self._database.table.look(name)) is Stream:
                found.append((self.first + place + 1, name))
            elif name is not None:
                self._known.discard(name)
                self._order[place] = None
        return self.first + end, found

    def next_page(self, end: int) -> int:
        """The cursor of the next page, if the last one went up to *end*; 0: there is none."""
        if end < self.end or not self.is_complete:
            return end
        if len(self._order) - len(self._known) > len(self._known) + FEW_HOLES:
            self._close_up()
        return 0

    def _close_up(self) -> None:
        """Let no place be a hole. O(names), after as many have gone."""
        self.first = self.end
        self._order = [name for name in self._order if name is not None]


class StreamIndex(Part):
    """The names of the streams of all databases, as long as somebody asks for them."""

    __slots__ = ("_databases", "_next_cursor", "_now_ms", "_of", "_others_tell")

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._of: dict[int, DatabaseIndex] = {}
        self._others_tell: dict[int, bool] = {}  # of each database: others hear of new keys, too
        self._now_ms = 0
        self._next_cursor = 1  # greater than all that were given by names that have gone since

    def of(self, database: Keyspace) -> DatabaseIndex:
        """The names of *database*, kept from now on; some more are gathered."""
        names = self._of.get(database.index)
        if names is None:
            names = self._of[database.index] = DatabaseIndex(database)
            names.first = self._next_cursor
            self._listen()
        names.used_ms = self._now_ms
        names.gather()
        return names

    def configured(self, config: Config) -> None:
        """Those who hear of new keys, too, have been told before."""
        for db in self._databases:
            self._others_tell[db.index] = db.events.tells_new_keys
        self._listen()

    def _listen(self) -> None:
        """Hear of new keys while there are names."""
        for db in self._databases:
            db.events.tells_new_keys = bool(self._of) or self._others_tell.get(db.index, False)

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        for db in databases:
            names = self._of.get(db.index)
            if names is not None:
                names.check()

    def added(self, db_index: int, key: bytes) -> None:
        """*key* is new."""
        names = self._of.get(db_index)
        if names is not None:
            names.add(key)

    def tick(self, now_ms: int) -> None:
        self._now_ms = now_ms
        if self._of:
            for index, names in list(self._of.items()):
                if now_ms - names.used_ms >= KEPT_MS:
                    self._next_cursor = max(self._next_cursor, names.end)
                    del self._of[index]
            self._listen()
