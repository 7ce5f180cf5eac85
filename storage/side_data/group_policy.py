"""What a consumer group does by itself: side data of the group, set by XGROUP CFGSET.

    VISIBILITY ms              what is not acknowledged so long after its delivery is anyone's
    BACKOFF ms [ms ...]        the k-th redelivery waits so long; the last number is for all others
    MAXDELIVERIES n            an entry that was delivered so often is a dead letter:
    DEADLETTER stream          it leaves the group for this stream
    MAXPENDING n               no new entry is delivered while so many are pending in the group
    MAXPENDINGPERCONSUMER n    nor to a consumer that has so many
    ORDERBY field              entries with one value of the field go to one consumer at a time, in
                               their order
    MAXPENDINGPERVALUE n       and no more than so many of them
    RELEASED yes               what was released (XNACK) goes to who reads next
    ACTIVE 1                   one consumer at a time is given entries, the others stand by;
    TIMEOUT ms                 after so long a silence another takes over
    CONSUMERTIMEOUT ms         a consumer that is silent for so long is deleted; what it had is
                               given to others
    PAUSED yes                 nothing is delivered: XGROUP PAUSE, XGROUP RESUME

0, an empty name, and no are the defaults: the group does nothing by itself. A value of 0 is not
saved, and neither is a policy of defaults.

Who is active now (ACTIVECONSUMER), and the number of its turn (FENCE), are saved with the policy;
and, with MAXDELIVERIES, when entries that were delivered again were delivered first (FIRST).

In files a policy is these words and their values: see worded_kind.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from storage import allocation
from storage.side_data.worded_kind import WordedKind
from storage.stream.redeliveries import BYTES, Redeliveries
from storage.value_type import Words

MOST = 2**53  # of a number: ms, deliveries, entries
NO_NAME = b""
LONGEST_FIELD = 1024  # bytes of a field's name; so a client cannot make a policy large

# The number that each word sets.
NUMBERS = {
    b"VISIBILITY": "visibility_ms",
    b"MAXDELIVERIES": "max_deliveries",
    b"MAXPENDING": "max_pending",
    b"MAXPENDINGPERCONSUMER": "max_pending_of_one",
    b"MAXPENDINGPERVALUE": "max_pending_of_value",
    b"ACTIVE": "active",
    b"TIMEOUT": "timeout_ms",
    b"FENCE": "fence",
    b"CONSUMERTIMEOUT": "consumer_timeout_ms",
}
ACTIVE = b"ACTIVE"
ACTIVECONSUMER = b"ACTIVECONSUMER"
FENCE = b"FENCE"
FIRST = b"FIRST"  # its value: the words of Redeliveries, with spaces between
FIRST_AT_ONCE = 1000  # words of them in one command
BACKOFF = b"BACKOFF"
MOST_WAITS = 32  # numbers of BACKOFF; so a client cannot make a policy large
DEADLETTER = b"DEADLETTER"
ORDERBY = b"ORDERBY"
PAUSED, RELEASED = b"PAUSED", b"RELEASED"
FLAGS = {PAUSED: "paused", RELEASED: "released"}  # what each word sets
YES_OR_NO = {b"no": False, b"yes": True}


_timeouts_set = 0  # of the process: how often a policy was given a CONSUMERTIMEOUT


def timeouts_set() -> int:
    """How often a CONSUMERTIMEOUT was set; 0: no group has silent consumers to be deleted."""
    return _timeouts_set


def _note_timeout() -> None:
    global _timeouts_set  # noqa: PLW0603 - it is of the process
    _timeouts_set += 1


class GroupPolicy:
    """The policy of one group. Those of defaults are equal to no policy."""

    __slots__ = (
        "_weight", "active", "active_consumer", "backoff_ms", "consumer_timeout_ms", "dead_letter",
        "fence", "look_at_ms", "max_deliveries", "max_pending", "max_pending_of_one",
        "max_pending_of_value", "order_by", "paused", "redelivered", "released", "seen_ms",
        "silent", "suspected_ms", "timeout_ms", "visibility_ms",
    )  # fmt: skip

    def __init__(self) -> None:
        self.visibility_ms = 0
        self.backoff_ms: tuple[int, ...] = ()
        self.max_deliveries = 0
        self.dead_letter = NO_NAME
        self.max_pending = 0
        self.max_pending_of_one = 0
        self.max_pending_of_value = 0
        self.order_by = NO_NAME  # a field
        self.released = False
        self.paused = False
        self.active = 0  # how many consumers may read; 0: all
        self.active_consumer = NO_NAME
        self.fence = 0  # grows with each turn
        self.timeout_ms = 0
        self.consumer_timeout_ms = 0
        self.redelivered = Redeliveries()  # the group notes it there
        # Not saved: consumers that may be silent, since when; and when to look at them again.
        self.silent: dict[bytes, int] = {}
        self.look_at_ms = 0
        # Not saved: when the active consumer was last seen waiting, and since when it is silent.
        self.seen_ms = self.suspected_ms = 0
        self._weight = 0  # bytes of names

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _name(self, name: bytes, old: bytes) -> bytes:
        """*name*, which takes the place of *old*, and is counted: nobody else may have it."""
        change = len(name) - len(old)
        self._weight += change
        allocation.used += change
        return name

    def limits_pending(self) -> bool:
        """Whether only so many entries may be pending."""
        return bool(self.max_pending or self.max_pending_of_one)

    def has_limits(self) -> bool:
        """Whether entries wait until others are acknowledged."""
        return self.limits_pending() or bool(self.order_by)

    def gives_released(self) -> bool:
        """Whether who reads is given what has no owner, too."""
        return bool(
            self.backoff_ms
            or self.active
            or self.consumer_timeout_ms
            or self.order_by
            or self.released
        )

    def room(self, pending: int, of_consumer: int) -> int:
        """How many new entries a consumer may be given that has *of_consumer* of the *pending*."""
        room = MOST
        if self.paused:
            return 0
        if self.max_pending:
            room = self.max_pending - pending
        if self.max_pending_of_one:
            room = min(room, self.max_pending_of_one - of_consumer)
        return max(room, 0)

    def wait_ms(self, deliveries: int) -> int:
        """How long the next delivery waits, after so many; 0 for what is dead."""
        if not self.backoff_ms or deliveries < 1 or self.is_dead(deliveries):
            return 0
        return self.backoff_ms[min(deliveries, len(self.backoff_ms)) - 1]

    def is_dead(self, deliveries: int) -> bool:
        """Whether an entry that was delivered so often is not to be delivered again."""
        return 0 < self.max_deliveries <= deliveries

    def set(self, word: bytes, value: bytes) -> bool:
        """Set what *word*, in capitals, says. False if it is unknown, or *value* is bad."""
        if word in NUMBERS:
            if not _is_number(value):
                return False
            if word == ACTIVE and int(value) > 1:
                return False
            setattr(self, NUMBERS[word], int(value))
            if self.consumer_timeout_ms:
                _note_timeout()
        elif word == ACTIVECONSUMER:
            self.active_consumer = value
        elif word == BACKOFF:
            waits = value.split()
            if not 0 < len(waits) <= MOST_WAITS or not all(map(_is_number, waits)):
                return False
            self.backoff_ms = tuple(int(wait) for wait in waits)
            if not any(self.backoff_ms):
                self.backoff_ms = ()
        elif word == DEADLETTER:
            self.dead_letter = self._name(value, self.dead_letter)
        elif word == FIRST:
            return self.redelivered.add(value.split())
        elif word == ORDERBY:
            if len(value) > LONGEST_FIELD:
                return False
            self.order_by = self._name(value, self.order_by)
        elif word in FLAGS and value.lower() in YES_OR_NO:
            setattr(self, FLAGS[word], YES_OR_NO[value.lower()])
        else:
            return False
        return True

    def settings(self) -> list[tuple[bytes, bytes]]:
        """All words, and their values."""
        found = [(word, b"%d" % getattr(self, name)) for word, name in NUMBERS.items()]
        waits = b" ".join(b"%d" % wait for wait in self.backoff_ms) or b"0"
        flags = [(word, b"yes" if getattr(self, name) else b"no") for word, name in FLAGS.items()]
        return [
            *found,
            (BACKOFF, waits),
            (DEADLETTER, self.dead_letter),
            (ACTIVECONSUMER, self.active_consumer),
            (ORDERBY, self.order_by),
            *flags,
        ]

    def words(self) -> list[bytes]:
        """The words, and their values, that make a policy of defaults this one."""
        differing = [pair for pair in self.settings() if pair not in _DEFAULTS]
        return [text for pair in differing for text in pair]

    def copy(self) -> GroupPolicy:
        """An equal one of its own, to take its place: what the group notes is of both."""
        copy = GroupPolicy()
        copy.redelivered = self.redelivered
        copy.seen_ms, copy.suspected_ms = self.seen_ms, self.suspected_ms
        copy.silent = self.silent
        for word, value in self.settings():
            copy.set(word, value)
        return copy


_DEFAULTS = frozenset(GroupPolicy().settings())


def _is_number(text: bytes) -> bool:
    return text.isdigit() and len(text) <= 16 and int(text) <= MOST


class GroupPolicyKind(WordedKind):
    """The row of the kind."""

    def saved(self, value: GroupPolicy) -> list[bytes]:
        if not value.max_deliveries or not len(value.redelivered):
            return value.words()
        return [*value.words(), FIRST, b" ".join(value.redelivered.words())]

    def memory(self, value: GroupPolicy) -> int:
        return len(self.digest(value)) + BYTES * len(value.redelivered)

    def digest(self, value: GroupPolicy) -> bytes:
        """Without what is pending, as that of a stream; a replica may have noted it later."""
        return self.dump_words(value.words())

    def written_keys(self, value: GroupPolicy) -> tuple[bytes, ...]:
        return (value.dead_letter,) if value.dead_letter else ()

    def commands(self, key: bytes, group: bytes | None, value: GroupPolicy) -> Iterator[Words]:
        words = [b"XGROUP", b"CFGSET", key, group or b""]
        yield [*words, *value.words()]
        noted = value.redelivered.words() if value.max_deliveries else iter(())
        while some := list(islice(noted, FIRST_AT_ONCE)):
            yield [*words, FIRST, b" ".join(some)]


GROUP_POLICY = GroupPolicyKind(b"group-policy", GroupPolicy)
