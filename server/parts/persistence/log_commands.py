"""A snapshot as commands: the base of an append-only file with ``aof-use-rdb-preamble no``.

    #TS:1700000000            with ``aof-timestamp-enabled``: when it was written
    FUNCTION LOAD text        for each library of functions
    SELECT db                 for each database that has keys
    SET, RPUSH, XADD, ...     for each key, by its type: see ValueType.commands
    ...                       what sets its side data: see SideKind.commands
    PEXPIREAT key ms          if the key expires
    #S...                     with ``aof-checksums``: after each piece (log_sums.py)

Source: rewriteAppendOnlyFileRio in aof.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from protocol.encoder import Encoder
from server.parts.persistence import log_sums
from storage import types
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace
from storage.value_type import Words

PIECE = 1 << 16  # bytes


def annotation(unix_s: int) -> bytes:
    """The line that says when the commands after it were run."""
    return b"#TS:%d\r\n" % unix_s


class CommandPieces:
    """Iterates over the bytes of the commands that make *databases*, in pieces of 64 KB.

    *libraries* are the texts of functions. *unix_s* is the time to say; None: none. With *sums*
    each piece ends with its checksum.
    """

    def __init__(
        self,
        databases: Sequence[Keyspace],
        libraries: Sequence[bytes] = (),
        unix_s: int | None = None,
        sums: bool = False,
    ) -> None:
        self.keys_written = 0
        self._unix_s = unix_s
        self._sums = sums
        self._at = 0  # bytes of the pieces so far
        self._follows = False  # whether the last of them has a checksum
        self._libraries = libraries
        self._databases = databases
        self._out = Encoder(2)

    def __iter__(self) -> Iterator[bytes]:
        if self._unix_s is not None:
            self._out.raw(annotation(self._unix_s))
        for argv in self._commands():
            self._out.write(list(argv))
            if len(self._out) >= PIECE:
                yield self._piece()
        yield self._piece()

    def _piece(self) -> bytes:
        """What was added since the last piece."""
        piece = self._out.take()
        line = log_sums.line_for(piece, self._at, self._follows) if self._sums else b""
        self._follows = bool(line)
        self._at += len(piece) + len(line)
        return piece + line

    def _commands(self) -> Iterator[Words]:
        for text in self._libraries:
            yield [b"FUNCTION", b"LOAD", text]
        for db in self._databases:
            if len(db):
                yield [b"SELECT", b"%d" % db.index]
            for key, value in db.table.items():
                yield from types.of(value).commands(key, value)
                if key in db.side:
                    yield from db.side[key].commands(key)
                expiry = db.expiry(key)
                if expiry != NO_EXPIRY:
                    yield [b"PEXPIREAT", key, b"%d" % expiry]
                self.keys_written += 1
