"""What a stream gives up by itself: side data of the stream, set by XCFGSET.

    RETAIN-AGE ms        an entry goes when so much time has passed since its id
    RETAIN-LENGTH n      the oldest entries go while there are more than n
    RETAIN-BYTES n       the oldest nodes go while the nodes have more than n bytes; the last stays
    RETAIN-ACKED yes     an entry goes when every group has been given and acknowledged it
    COMPACT field        of the entries with one value of the field only the newest stays
    MIN-AGE ms           to COMPACT, what is younger is not there: it neither goes nor replaces

Each of them is one more reason to go, and none keeps an entry that another one gives up: with
RETAIN-ACKED an entry that nobody has acknowledged still goes by its age. Without groups
RETAIN-ACKED gives up nothing. 0, no, and an empty field are no reason.

A policy has the words that were set, defaults included: a stream's own 0 wins over what the
configuration says for its name (``over``).

In files a policy is these words and their values: see worded_kind.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from storage.side_data.worded_kind import WordedKind
from storage.value_type import Words

LONGEST_FIELD = 1024  # bytes of a field's name; so a client cannot make a policy large
MOST = 2**53  # of a number: ms, entries, bytes
AGE, LENGTH, BYTES = b"RETAIN-AGE", b"RETAIN-LENGTH", b"RETAIN-BYTES"
ACKED, COMPACT, MIN_AGE = b"RETAIN-ACKED", b"COMPACT", b"MIN-AGE"
WORDS = (AGE, LENGTH, BYTES, ACKED, COMPACT, MIN_AGE)

# What a number may end with, and what that stands for.
TIMES = {
    b"": 1, b"ms": 1, b"s": 1000, b"m": 60_000, b"h": 3_600_000, b"d": 86_400_000,
    b"w": 7 * 86_400_000,
}  # fmt: skip
SIZES = {
    b"": 1, b"b": 1, b"k": 1000, b"kb": 1 << 10, b"m": 10**6, b"mb": 1 << 20, b"g": 10**9,
    b"gb": 1 << 30,
}  # fmt: skip
UNITS = {AGE: TIMES, LENGTH: {b"": 1}, BYTES: SIZES, MIN_AGE: TIMES}
FLAGS = {b"no": 0, b"yes": 1}

_NUMBER = re.compile(rb"([0-9]{1,16})([a-z]{0,2})", re.ASCII | re.IGNORECASE)


class StreamPolicy:
    """The policy of one stream. It never changes once it is beside a key: another takes its place.

    *age_ms*, *length*, *size*, *acked*, *field* and *min_age_ms* are what the words say, or their
    defaults.
    """

    __slots__ = ("_said", "acked", "age_ms", "field", "length", "min_age_ms", "size")

    def __init__(self) -> None:
        self._said: dict[bytes, bytes] = {}
        self._follow()

    def set(self, word: bytes, value: bytes) -> bool:
        """Set what *word*, in capitals, says. False if it is unknown, or *value* is bad."""
        if word in UNITS:
            found = _NUMBER.fullmatch(value)
            unit = None if found is None else UNITS[word].get(found[2].lower())
            if found is None or unit is None or int(found[1]) * unit > MOST:
                return False
            value = b"%d" % (int(found[1]) * unit)
        elif word == ACKED:
            value = value.lower()
            if value not in FLAGS:
                return False
        elif word != COMPACT or len(value) > LONGEST_FIELD:
            return False
        self._said[word] = value
        self._follow()
        return True

    def _follow(self) -> None:
        """Set the attributes to what is said."""
        said = self._said
        self.age_ms = int(said.get(AGE, b"0"))
        self.length = int(said.get(LENGTH, b"0"))
        self.size = int(said.get(BYTES, b"0"))
        self.acked = FLAGS[said.get(ACKED, b"no")] == 1
        self.field = said.get(COMPACT, b"")
        self.min_age_ms = int(said.get(MIN_AGE, b"0"))

    def __bool__(self) -> bool:
        """Whether anything was set, be it a default."""
        return bool(self._said)

    @property
    def does_nothing(self) -> bool:
        """Whether no entry would ever go."""
        return not (self.age_ms or self.length or self.size or self.acked or self.field)

    def settings(self) -> list[tuple[bytes, bytes]]:
        """All words, and what they are now."""
        return [
            (AGE, b"%d" % self.age_ms),
            (LENGTH, b"%d" % self.length),
            (BYTES, b"%d" % self.size),
            (ACKED, b"yes" if self.acked else b"no"),
            (COMPACT, self.field),
            (MIN_AGE, b"%d" % self.min_age_ms),
        ]

    def words(self) -> list[bytes]:
        """The words that were set, and their values."""
        said = self._said
        return [text for word in WORDS if word in said for text in (word, said[word])]

    def effective_words(self) -> list[bytes]:
        """The words that are a reason to go, and their values; with COMPACT, its MIN-AGE."""
        none = StreamPolicy().settings()
        if not self.field:
            none.append((MIN_AGE, b"%d" % self.min_age_ms))
        return [text for pair in self.settings() if pair not in none for text in pair]

    def over(self, other: StreamPolicy | None) -> StreamPolicy:
        """What holds where *other* does, too, and this one wins, word by word."""
        made = StreamPolicy()
        words = (other.words() if other is not None else []) + self.words()
        for word, value in zip(words[::2], words[1::2], strict=True):
            made.set(word, value)
        return made


class StreamPolicyKind(WordedKind):
    """The row of the kind."""

    def commands(self, key: bytes, group: bytes | None, value: StreamPolicy) -> Iterator[Words]:
        if group is None:  # else it is forged, and nobody asks for it
            yield [b"XCFGSET", key, *value.words()]


STREAM_POLICY = StreamPolicyKind(b"stream-policy", StreamPolicy)
