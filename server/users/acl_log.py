"""ACL LOG: what was refused, and to whom; the newest first.

    count  reason   context   object   username   client                last and first time
    3      key      toplevel  jobs:7   ann        id=9 addr=10.0.0.1..  1700000000123
    1      auth     toplevel  AUTH     bob        id=12 addr=..

What is refused once more for the same reason within a minute is counted with the entry that there
is, as long as that is among the newest ten: a client that tries passwords does not push out the
others.
"""

from __future__ import annotations

from collections import deque
from itertools import count, islice

LOOKED_AT = 10  # entries
LONGEST = 1024  # bytes of a name: else clients without rights could fill the memory with long ones
SAME_WITHIN_MS = 60_000


class Entry:
    """What was refused, *count* times; *client* is the client's line in CLIENT LIST."""

    def __init__(
        self,
        entry_id: int,
        reason: bytes,
        context: bytes,
        object_: bytes,
        username: bytes,
        client: bytes,
        now_ms: int,
    ) -> None:
        self.id = entry_id
        self.reason = reason
        self.context = context
        self.object = object_
        self.username = username
        self.client = client
        self.created_ms = self.updated_ms = now_ms
        self.count = 1


class AclLog:
    """The last *most* entries (acllog-max-len)."""

    __slots__ = ("_entries", "_ids", "most")

    def __init__(self) -> None:
        self.most = 128
        self._ids = count()
        self._entries: deque[Entry] = deque()  # the newest is the first

    def __len__(self) -> int:
        return len(self._entries)

    def record(
        self,
        reason: bytes,
        context: bytes,
        object_: bytes,
        username: bytes,
        client: bytes,
        now_ms: int,
    ) -> None:
        """Something was refused at unix time *now_ms*. Of names the first kilobyte is kept."""
        object_, username = object_[:LONGEST], username[:LONGEST]
        said = (reason, context, object_, username)
        for entry in islice(self._entries, LOOKED_AT):
            is_recent = abs(now_ms - entry.updated_ms) <= SAME_WITHIN_MS
            if is_recent and said == (entry.reason, entry.context, entry.object, entry.username):
                entry.count += 1
                entry.client, entry.updated_ms = client, now_ms
                self._entries.remove(entry)
                self._entries.appendleft(entry)
                return
        made = Entry(next(self._ids), reason, context, object_, username, client, now_ms)
        self._entries.appendleft(made)
        while len(self._entries) > self.most:
            self._entries.pop()

    def newest(self, most: int) -> list[Entry]:
        """The last *most* entries."""
        return list(islice(self._entries, most))

    def clear(self) -> None:
        """Forget all entries; the numbers of new ones continue."""
        self._entries.clear()
