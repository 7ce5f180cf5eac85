"""Key specs: where a command's keys stand in argv, and what it does with them; channel specs.

The model and its words are redis's own, as COMMAND INFO shows them: *begin_search* tells where the
first key is, *find_keys* how to find the others from there. An index counts from the command's
name, at 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Flag, auto
from functools import cache
from typing import NamedTuple

from storage import octets


class KeyFlags(Flag):
    """What a command does with a key, and with the data in its value."""

    # The access: one of these four.
    RO = auto()  # reads the value
    RW = auto()  # changes the value that is there
    OW = auto()  # overwrites the value, whatever it was
    RM = auto()  # removes the key
    # What is done with the data: any of these.
    ACCESS = auto()  # data of the value is returned, copied or compared
    UPDATE = auto()
    INSERT = auto()
    DELETE = auto()
    # What the spec cannot tell; Command.keys_of can.
    INCOMPLETE = auto()  # the spec may miss keys
    VARIABLE_FLAGS = auto()  # other arguments decide what is done
    NOT_KEY = auto()  # no key, but a cluster finds the node by it: a shard channel

    __hash__ = object.__hash__  # a combination is one object; Enum would hash its name

    @property
    def words(self) -> list[str]:
        """The flags as COMMAND INFO spells them, the access first."""
        return [str(f.name) if f in _ACCESSES else str(f.name).lower() for f in self]


RO, RW, OW, RM = KeyFlags.RO, KeyFlags.RW, KeyFlags.OW, KeyFlags.RM
ACCESS, UPDATE, INSERT, DELETE = (
    KeyFlags.ACCESS,
    KeyFlags.UPDATE,
    KeyFlags.INSERT,
    KeyFlags.DELETE,
)
INCOMPLETE, VARIABLE_FLAGS = KeyFlags.INCOMPLETE, KeyFlags.VARIABLE_FLAGS
NOT_KEY = KeyFlags.NOT_KEY
_ACCESSES = RO | RW | OW | RM

# The rights on a key that a user needs.
READ, WRITE = 1, 2
_WRITES = INSERT | DELETE | UPDATE

NO_VALUES: Mapping[bytes, int] = {}


@cache
def rights_for(flags: KeyFlags) -> int:
    """The rights on a key that a command needs which does with it what *flags* say."""
    return (READ if ACCESS in flags else 0) | (WRITE if flags & _WRITES else 0)


class KeyUse(NamedTuple):
    """One key that a call names, and what the command does with it."""

    key: bytes
    flags: KeyFlags


class Search(NamedTuple):
    """One half of a key spec as COMMAND INFO shows it: a type, and the parameters of that type."""

    type: str
    spec: Mapping[str, int | str]


class KeySpec(ABC):
    """Some keys of a command, all used in the same way."""

    first = 0  # where the first of them stands; 0: not always at the same place

    def __init__(self, flags: KeyFlags) -> None:
        self.flags = flags
        self.rights = rights_for(flags)

    @abstractmethod
    def searches(self) -> tuple[Search, Search]:
        """As COMMAND INFO shows them: how to find the first key, and from there the others."""

    @abstractmethod
    def keys_in(self, argv: list[bytes]) -> list[bytes] | None:
        """The keys in *argv*, whose number of words the command accepts.

        None if the whole call names none: the command runs without keys, or refuses *argv*.
        """


class KeyRange(KeySpec):
    """The keys at *first*, *first* + *step*, ... to *last*, which counts from the end if negative.

    Without *last* there is one key.
    """

    def __init__(
        self, flags: KeyFlags, first: int = 1, last: int | None = None, step: int = 1
    ) -> None:
        super().__init__(flags)
        self.first = first
        self.last = last
        self.step = step

    def searches(self) -> tuple[Search, Search]:
        last = 0 if self.last is None else self.last
        others = _range(last if last <= 0 else last - self.first, self.step)
        return Search("index", {"index": self.first}), others

    def keys_in(self, argv: list[bytes]) -> list[bytes]:
        if self.last is None:
            return [argv[self.first]]
        end = self.last if self.last >= 0 else len(argv) + self.last
        return argv[self.first : end + 1 : self.step]


class CountedKeys(KeySpec):
    """Keys after their number, which is at *count_at*: ``LMPOP 2 a b LEFT`` has it at 1.

    Each is *step* words after the one before, as in ``MSETEX 2 a value b value``.
    """

    def __init__(self, flags: KeyFlags, count_at: int, step: int = 1) -> None:
        super().__init__(flags)
        self.count_at = count_at
        self.first = count_at + 1
        self.step = step

    def searches(self) -> tuple[Search, Search]:
        others = Search("keynum", {"keynumidx": 0, "firstkey": 1, "keystep": self.step})
        return Search("index", {"index": self.count_at}), others

    def keys_in(self, argv: list[bytes]) -> list[bytes] | None:
        text, first = argv[self.count_at], self.first
        count = octets.int64_of(text) if octets.is_int64(text) else 0
        last = first + (count - 1) * self.step
        return argv[first : last + 1 : self.step] if first <= last < len(argv) else None


class KeywordKeys(KeySpec):
    """Keys after *keyword*: all words there or, with *share* = 2, their first half.

    The keyword is one of the options that begin at *options_at*. *values* tells how many words an
    option takes along, so that a consumer group named ``STREAMS`` is not taken for the keyword;
    *counted* where its number stands, after an option that takes as many more. COMMAND INFO cannot
    express that: it shows *start_from*, where clients look for the keyword.
    """

    def __init__(
        self,
        flags: KeyFlags,
        keyword: bytes,
        start_from: int,
        options_at: int = 1,
        values: Mapping[bytes, int] = NO_VALUES,
        share: int = 1,
        counted: Mapping[bytes, int] = NO_VALUES,
    ) -> None:
        super().__init__(flags)
        self.keyword = keyword
        self.start_from = start_from
        self.options_at = options_at
        self.values = values
        self.share = share
        self.counted = counted

    def searches(self) -> tuple[Search, Search]:
        others = _range(-1, 1, self.share if self.share > 1 else 0)
        return _keyword(self.keyword, self.start_from), others

    def keys_in(self, argv: list[bytes]) -> list[bytes]:
        first = self.position(argv)
        return [] if first is None else argv[first : first + (len(argv) - first) // self.share]

    def position(self, argv: list[bytes]) -> int | None:
        """The index after the keyword; None if *argv* has no such option."""
        at = self.options_at
        while at < len(argv):
            word = argv[at].upper()
            if word == self.keyword:
                return at + 1
            if word in self.counted:
                at += self.counted[word]
                at += _number_at(argv, at)
            at += 1 + self.values.get(word, 0)
        return None


class KeyAfter(KeySpec):
    """The one key after *keyword*, looked for from *start_from* on; it may be missing.

    If the keyword is there more than once, the last one counts.
    """

    def __init__(self, flags: KeyFlags, keyword: bytes, start_from: int) -> None:
        super().__init__(flags)
        self.keyword = keyword
        self.start_from = start_from

    def searches(self) -> tuple[Search, Search]:
        return _keyword(self.keyword, self.start_from), _range(0, 1)

    def keys_in(self, argv: list[bytes]) -> list[bytes]:
        for at in range(len(argv) - 2, self.start_from - 1, -1):
            if argv[at].upper() == self.keyword:
                return [argv[at + 1]]
        return []


class UnknownKeys(KeySpec):
    """Keys that no spec can find: Command.get_keys does, or nothing."""

    def searches(self) -> tuple[Search, Search]:
        return Search("unknown", {}), Search("unknown", {})

    def keys_in(self, argv: list[bytes]) -> list[bytes]:
        return []


def _number_at(argv: list[bytes], at: int) -> int:
    """The number that stands at *at*; 0 if it is none, or negative."""
    text = argv[at] if at < len(argv) else b""
    return max(octets.int64_of(text), 0) if octets.is_int64(text) else 0


def _keyword(keyword: bytes, start_from: int) -> Search:
    return Search("keyword", {"keyword": keyword.decode(), "startfrom": start_from})


def _range(last: int, step: int, limit: int = 0) -> Search:
    return Search("range", {"lastkey": last, "keystep": step, "limit": limit})


class ChannelSpec(NamedTuple):
    """The words of a call that are channels on which its user must have rights.

    PUBLISH channel message            ONE_CHANNEL
    SUBSCRIBE channel [channel ...]    ALL_CHANNELS
    PSUBSCRIBE pattern [pattern ...]   ALL_PATTERNS

    They are the word after the name or, with *many*, all words there. A command that ends
    subscriptions needs no rights, and has no spec.
    """

    many: bool = True
    are_patterns: bool = False

    def channels_in(self, argv: list[bytes]) -> list[bytes]:
        """The channels, or the patterns, in *argv*."""
        return argv[1:] if self.many else argv[1:2]


ONE_CHANNEL = ChannelSpec(many=False)
ALL_CHANNELS = ChannelSpec()
ALL_PATTERNS = ChannelSpec(are_patterns=True)
