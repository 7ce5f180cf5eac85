"""The arguments of HGETEX, HSETEX and HEXPIRE's family: options and fields, in any order.

    FIELDS numfields field [field ...]                HGETEX, HEXPIRE
    FIELDS numfields field value [field value ...]    HSETEX

As in Redis 8.6, what one of HGETEX and HSETEX has and the other has not is told apart at the end.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.hashes import time_steps
from server.dispatch.call import Call
from server.parts.expiry.expire_times import UNITS
from server.table import args, errors
from server.table.args import INT32_MAX
from storage.hashes.timed_fields import NO_EXPIRY

ONE_CONDITION = ErrorReply("ERR", "Only one of FXX or FNX arguments can be specified")
SEVERAL_CONDITIONS = ErrorReply("ERR", "Multiple condition flags specified")
BAD_COUNT = ErrorReply("ERR", "invalid number of fields")
TOO_FEW = ErrorReply("ERR", "wrong number of arguments")
FIELDS_TWICE = ErrorReply("ERR", "FIELDS keyword specified multiple times")
NO_FIELDS = ErrorReply("ERR", "missing FIELDS argument")
FIELDS_ALONE = ErrorReply("ERR", "FIELDS requires at least numfields and one field argument")
NO_TIME = ErrorReply("ERR", "missing expire time")
OF_ANOTHER = ErrorReply("ERR", "unknown argument")  # which another command has

FIELDS, FNX, FXX, KEEPTTL, PERSIST = b"FIELDS", b"FNX", b"FXX", b"KEEPTTL", b"PERSIST"
CONDITIONS = (b"NX", b"XX", b"GT", b"LT")


def _unknown(word: bytes) -> ErrorReply:
    return ErrorReply("ERR", f"unknown argument: {errors.text_of(word)}")


class FieldArgs:
    """Those of the command *name*, from ``argv[2]`` on; *step*: words for each field.

    Raises the error of the first mistake.
    """

    __slots__ = ("condition", "keeps_time", "persists", "when_ms", "words")

    def __init__(self, call: Call, name: str, step: int) -> None:
        self.condition: bytes | None = None  # FNX or FXX
        self.when_ms = NO_EXPIRY  # unix ms
        self.keeps_time = False
        self.persists = False
        self.words: list[bytes] | None = None  # what follows numfields
        argv = call.argv
        at = 2
        while at < len(argv):
            word = argv[at].upper()
            if word == FIELDS:
                at = self._take_fields(argv, at, name, step)
                continue
            if word in (FNX, FXX):
                if self.condition is not None:
                    raise ONE_CONDITION
                self.condition = word
            elif word == KEEPTTL:
                if self.keeps_time or self.when_ms != NO_EXPIRY:
                    raise _one_time(name)
                self.keeps_time = True
            elif word == PERSIST:
                if self.persists or self.when_ms != NO_EXPIRY:
                    raise _one_time(name)
                self.persists = True
            elif word in UNITS:
                if self.keeps_time or self.persists or self.when_ms != NO_EXPIRY:
                    raise _one_time(name)
                at += 1
                if at == len(argv):
                    raise NO_TIME
                self.when_ms = time_steps.absolute_ms(call, argv[at], word, name)
            else:
                raise _unknown(argv[at])
            at += 1
        if self.words is None:
            raise NO_FIELDS

    def _take_fields(self, argv: list[bytes], at: int, name: str, step: int) -> int:
        """Take what ``argv[at]``, FIELDS, brings along. Returns the place of the next word."""
        if self.words is not None:
            raise FIELDS_TWICE
        if at + 1 == len(argv):
            raise errors.wrong_arity(name)
        count = args.to_int(argv[at + 1], BAD_COUNT)
        if not 1 <= count <= INT32_MAX:
            raise BAD_COUNT
        end = at + 2 + count * step
        if end > len(argv):
            raise TOO_FEW
        self.words = argv[at + 2 : end]
        return end


def _one_time(name: str) -> ErrorReply:
    other = "PERSIST" if name == "hgetex" else "KEEPTTL"
    text = f"Only one of EX, PX, EXAT, PXAT or {other} arguments can be specified"
    return ErrorReply("ERR", text)


def condition_and_fields(argv: list[bytes]) -> tuple[bytes, list[bytes]]:
    """The condition of HEXPIRE and its family, or nothing, and the fields: from ``argv[3]`` on."""
    condition = b""
    fields: list[bytes] = []
    several = False  # conditions: told at the end
    at = 3
    while at < len(argv):
        word = argv[at].upper()
        if word in CONDITIONS:
            several = several or condition not in (b"", word)
            condition = word
            at += 1
            continue
        if word != FIELDS:
            raise _unknown(argv[at])
        if fields:
            raise FIELDS_TWICE
        if at + 2 >= len(argv):
            raise FIELDS_ALONE
        count = args.to_int(argv[at + 1], time_steps.NO_FIELDS_COUNT)
        if not 1 <= count <= INT32_MAX:
            raise time_steps.NO_FIELDS_COUNT
        end = at + 2 + count
        if end > len(argv):
            raise TOO_FEW
        fields = argv[at + 2 : end]
        at = end
    if not fields:
        raise NO_FIELDS
    if several:
        raise SEVERAL_CONDITIONS
    return condition, fields
