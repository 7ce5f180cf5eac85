"""The options of SET and MSETEX: a condition, and when what is put expires."""

from __future__ import annotations

from server.commands.strings import conditions
from server.parts.expiry.expire_times import UNITS, absolute_ms
from server.table import errors
from storage import octets
from storage.keyspace.expiring_keys import NO_EXPIRY

NX, XX, GET, KEEPTTL = b"NX", b"XX", b"GET", b"KEEPTTL"


class PutOptions:
    """What the options say. A condition or a unit may be there twice; the last one counts."""

    __slots__ = ("condition", "duration", "gets", "keeps", "operand", "unit")

    def __init__(self) -> None:
        self.condition: bytes | None = None  # NX, XX, or one of conditions.CONDITIONS
        self.operand: bytes | None = None  # what the condition compares with; NX and XX have none
        self.gets = False
        self.keeps = False  # the expiry that is there
        self.unit: bytes | None = None  # of the new expiry
        self.duration: bytes = b""

    def take(self, argv: list[bytes], at: int) -> int:
        """Take the option at *at*, which SET and MSETEX have. Returns the place of the next one.

        Raises SYNTAX.
        """
        word = argv[at].upper()
        at += 1
        if word in (NX, XX):
            self._set_condition(word)
        elif word == KEEPTTL:
            if self.unit is not None:
                raise errors.SYNTAX
            self.keeps = True
        elif word not in UNITS or at == len(argv):
            raise errors.SYNTAX
        else:
            if self.keeps or (self.unit is not None and self.unit != word):
                raise errors.SYNTAX
            self.unit, self.duration = word, argv[at]
            at += 1
        return at

    def take_of_set(self, argv: list[bytes], at: int) -> int:
        """Do so with an option that only SET has, or with any other."""
        if octets.same_letters(argv[at], GET):
            self.gets = True
            return at + 1
        if len(argv[at]) in (4, 5) and at + 1 < len(argv):
            word = argv[at].upper()
            if word in conditions.CONDITIONS:
                self._set_condition(word)
                self.operand = argv[at + 1]
                return at + 2
        return self.take(argv, at)

    def _set_condition(self, word: bytes) -> None:
        if self.condition is not None and self.condition != word:
            raise errors.SYNTAX
        self.condition = word

    def when_ms(self, now_ms: int, name: str) -> int:
        """When what is put expires, in unix ms, or NO_EXPIRY. Raises as absolute_ms does."""
        if self.unit is None:
            return NO_EXPIRY
        return absolute_ms(self.duration, self.unit, now_ms, name)


def of_set(argv: list[bytes]) -> PutOptions:
    """Those of SET. Raises SYNTAX."""
    options = PutOptions()
    at = 3
    while at < len(argv):
        at = options.take_of_set(argv, at)
    return options


def of_msetex(argv: list[bytes], at: int) -> PutOptions:
    """Those of MSETEX, from *at* on. Raises SYNTAX."""
    options = PutOptions()
    while at < len(argv):
        at = options.take(argv, at)
    return options
