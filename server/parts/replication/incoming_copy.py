"""A copy of all data as it comes from a primary.

    $<length>\\r\\n  bytes                    by file
    $EOF:<mark>\\r\\n  bytes  <mark>          diskless: the mark, 40 random bytes, ends it

Empty lines before it are keep-alives. The bytes go to a file; the loader checks them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from server.parts.replication.handshake import LONGEST_LINE, LinkFailed, shown

MARK_BYTES = 40
_HEAD = re.compile(rb"\$(?:EOF:(.{40})|([0-9]{1,18}))", re.DOTALL)

_log = logging.getLogger("penstock")


class IncomingCopy:
    """Takes what comes and passes the snapshot's bytes to *write*."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._head: bytes | None = b""  # the first line so far; None: it is over
        self._mark = b""
        self._tail = b""  # the last bytes that came: they may belong to the mark
        self.size = -1  # bytes; -1: unknown
        self.received = 0
        self.is_whole = False

    def take(self, data: bytes) -> bytes:
        """Take *data*; return what follows the copy. Raises LinkFailed, and what write does."""
        if self._head is not None:
            data = self._take_head(self._head + data)
            if self._head is not None:
                return b""
        if self._mark:
            return self._take_marked(data)
        return self._take_counted(data)

    def _take_head(self, data: bytes) -> bytes:
        """Read the first line; what follows it."""
        data = data.lstrip(b"\n")
        line, ending, rest = data.partition(b"\n")
        if not ending:
            if len(data) > LONGEST_LINE:
                raise LinkFailed("Bad protocol from MASTER: no copy comes")
            self._head = data
            return b""
        line = line.removesuffix(b"\r")
        if line.startswith(b"-"):
            raise LinkFailed(f"MASTER aborted replication with an error: {shown(line[1:])}")
        found = _HEAD.fullmatch(line)
        if found is None:
            raise LinkFailed(
                "Bad protocol from MASTER, the first byte is not '$' (we received"
                f" '{shown(line)}'), are you sure the host and port are right?"
            )
        self._head = None
        if found[1] is not None:
            self._mark = found[1]
            _log.info(
                "MASTER <-> REPLICA sync: receiving streamed RDB from master with EOF to disk"
            )
        else:
            self.size = int(found[2])
            _log.info("MASTER <-> REPLICA sync: receiving %d bytes from master to disk", self.size)
            self.is_whole = self.size == 0
        return rest

    def _take_counted(self, data: bytes) -> bytes:
        part = data[: self.size - self.received]
        self._pass_on(part)
        self.is_whole = self.received == self.size
        return data[len(part) :]

    def _take_marked(self, data: bytes) -> bytes:
        seen = self._tail + data
        at = seen.find(self._mark)
        if at >= 0:
            self._pass_on(seen[:at])
            self.is_whole = True
            return seen[at + MARK_BYTES :]
        self._pass_on(seen[: 1 - MARK_BYTES])
        self._tail = seen[1 - MARK_BYTES :]
        return b""

    def _pass_on(self, data: bytes) -> None:
        self._write(data)
        self.received += len(data)
