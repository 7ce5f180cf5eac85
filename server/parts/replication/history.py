"""The history of a data set as its replicas get it: its name, its length in bytes, its last part.

A replica that has lost its link asks for all after the last byte it has: "history *id*, from
byte 1235 on". It gets that part if the history is the same one and the backlog reaches so far
back; otherwise it gets a copy of all data. Names, offsets and rules are those of Redis
(replication.c, masterTryPartialResynchronization).

When a replica becomes a primary, its history gets a new id, since from there on it may differ from
that of its old primary. The old id stays valid up to that byte, so that the other replicas of the
old primary can follow the new one without a copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

NO_ID = "0" * 40


class Backlog:
    """The last *limit* bytes of a history, in the portions in which they came.

    Byte *first* of the history is the first that is here, *end* is after the last. Whole portions
    are dropped, so that a little more than *limit* may be here.
    """

    def __init__(self, first: int, limit: int) -> None:
        self.first = first
        self.end = first
        self.limit = limit
        self._portions: deque[bytes] = deque()

    def __len__(self) -> int:
        return self.end - self.first

    def append(self, data: bytes) -> None:
        """Add *data* after the last byte. O(1) amortised."""
        before = len(data)
        if len(data) > self.limit:
            self._portions.clear()
            data = data[len(data) - self.limit :]
            self.first = self.end = self.end + before - len(data)
        if data:
            self._portions.append(data)
            self.end += len(data)
            self._shorten()

    def resize(self, limit: int) -> None:
        """Keep *limit* bytes from now on."""
        self.limit = limit
        self._shorten()

    def has(self, offset: int) -> bool:
        """Whether all from byte *offset* on is here; true of the byte that comes next."""
        return self.first <= offset <= self.end

    def since(self, offset: int) -> Iterator[bytes]:
        """All from byte *offset* on, which must be here. O(portions)."""
        at = self.first
        for portion in self._portions:
            if at + len(portion) > offset:
                yield portion[max(offset - at, 0) :]
            at += len(portion)

    def _shorten(self) -> None:
        while self._portions and len(self) - len(self._portions[0]) >= self.limit:
            self.first += len(self._portions.popleft())


class EndedBefore(Exception):
    """A history went on under another name after the offset that this names."""


class History:
    """The ids of a history, its *offset* (bytes so far), and its backlog while there is one.

    *second_id* is an earlier id, valid for requests up to byte *second_offset*; -1 is none. Whether
    it ended there, a replica does not know: its primary may have had more under that id.
    """

    def __init__(self, new_id: str) -> None:
        self.id = new_id
        self.second_id = NO_ID
        self.second_offset = -1
        self.knows_end = False  # the history of that id ended there
        self.offset = 0
        self.backlog: Backlog | None = None

    def keep_backlog(self, limit: int) -> None:
        """Keep the last *limit* bytes from here on."""
        if self.backlog is None:
            self.backlog = Backlog(self.offset + 1, limit)
        else:
            self.backlog.resize(limit)

    def append(self, data: bytes) -> None:
        """Lengthen the history by *data*, which also goes to the replicas."""
        self.offset += len(data)
        if self.backlog is not None:
            self.backlog.append(data)

    def continues(self, history_id: str, offset: int) -> bool:
        """Whether a replica at (*history_id*, *offset*) can resync partially."""
        is_ours = history_id == self.id or (
            history_id == self.second_id and offset <= self.second_offset
        )
        return is_ours and self.backlog is not None and self.backlog.has(offset)

    def reached(self, history_id: str, offset: int) -> bool | None:
        """Whether the history *history_id* has come to *offset* here; None if it is another one.

        Raises EndedBefore if its name is that of before a failover, and it ended before *offset*.
        """
        if history_id == self.id:
            return self.offset >= offset
        if history_id != self.second_id or self.second_offset < 0:
            return None
        if offset < self.second_offset:
            return True
        if self.knows_end:
            raise EndedBefore(self.second_offset - 1)
        return False  # for ever, if the primary does not have that

    def begin_anew(self, new_id: str) -> None:
        """The data were replaced: no earlier id is valid any more. The offset continues."""
        self.id = new_id
        self.second_id, self.second_offset = NO_ID, -1

    def branch(self, new_id: str) -> None:
        """Continue under another id: this server becomes a primary."""
        self.second_id, self.second_offset = self.id, self.offset + 1
        self.knows_end = True
        self.id = new_id

    def follow_under(self, new_id: str) -> None:
        """Continue under the id that the primary has given what it has after our offset."""
        self.branch(new_id)
        self.knows_end = False

    def adopt(self, primary_id: str, offset: int) -> None:
        """All data have been copied from a primary, whose history is *offset* bytes long."""
        limit = self.backlog.limit if self.backlog is not None else 0
        self.id, self.offset = primary_id, offset
        self.second_id, self.second_offset = NO_ID, -1
        if self.backlog is not None:
            self.backlog = Backlog(offset + 1, limit)
