"""The options of INCREX, which come in any order, each once at most."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.parts.expiry.expire_times import UNITS, absolute_ms
from server.table import errors
from storage.keyspace.expiring_keys import NO_EXPIRY

NO_EXPIRATION = ErrorReply("ERR", "ENX flag requires an expiration")

BYINT, BYFLOAT, LBOUND, UBOUND = b"BYINT", b"BYFLOAT", b"LBOUND", b"UBOUND"
SATURATE, PERSIST, ENX = b"SATURATE", b"PERSIST", b"ENX"


class IncrexOptions:
    """What the options from ``argv[2]`` on say. Raises SYNTAX and NO_EXPIRATION."""

    __slots__ = (
        "by_float",
        "duration",
        "greatest",
        "increment",
        "keeps",
        "least",
        "persists",
        "saturates",
        "unit",
    )

    def __init__(self, argv: list[bytes]) -> None:
        self.increment: bytes | None = None
        self.by_float = False
        self.least: bytes | None = None
        self.greatest: bytes | None = None
        self.saturates = False
        self.unit: bytes | None = None  # of the expiry
        self.duration: bytes | None = None
        self.persists = False
        self.keeps = False  # the expiry that is there (ENX)
        at = 2
        while at < len(argv):
            word = argv[at].upper()
            at += 1
            if self._take_alone(word):
                continue
            if at == len(argv):
                raise errors.SYNTAX
            self._take(word, argv[at])
            at += 1
        if self.persists and (self.keeps or self.unit is not None):
            raise errors.SYNTAX
        if self.keeps and self.unit is None:
            raise NO_EXPIRATION

    def _take_alone(self, word: bytes) -> bool:
        """Take *word*, if it is an option without a value."""
        if word == SATURATE and not self.saturates:
            self.saturates = True
        elif word == PERSIST and not self.persists:
            self.persists = True
        elif word == ENX and not self.keeps:
            self.keeps = True
        else:
            return False
        return True

    def _take(self, word: bytes, value: bytes) -> None:
        if word in (BYINT, BYFLOAT) and self.increment is None:
            self.increment = value
            self.by_float = word == BYFLOAT
        elif word == LBOUND and self.least is None:
            self.least = value
        elif word == UBOUND and self.greatest is None:
            self.greatest = value
        elif word in UNITS and self.unit is None:
            self.unit, self.duration = word, value
        else:
            raise errors.SYNTAX

    def when_ms(self, now_ms: int) -> int:
        """When the key expires, in unix ms, or NO_EXPIRY. Raises as absolute_ms does."""
        if self.unit is None or self.duration is None:
            return NO_EXPIRY
        return absolute_ms(self.duration, self.unit, now_ms, "increx")
