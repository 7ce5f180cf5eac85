"""When entries that were delivered again were delivered first: for the dead letters of a group.

A pending entry has the time of its last delivery alone. So a group with MAXDELIVERIES notes the
time of the first before that changes: when the entry is claimed, extended or released. It is
forgotten with the pending entry. In words it is the id and the time (unix ms), by turns.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import BadStreamId
from storage.rax.rax import Rax
from storage.stream import stream_id

BYTES = 100  # that each takes, about
LONGEST = 20  # characters of a time, its sign included
EARLIEST, LATEST = -(2**63), 2**63 - 1  # what a pending entry may have as its time


class Redeliveries:
    """The entries of one group. All is O(log N)."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times = Rax()  # id key -> unix ms

    def __len__(self) -> int:
        return len(self._times)

    def note(self, key: bytes, deliveries: int, time: int, is_owned: bool) -> None:
        """The entry of that key was last delivered at *time*, and will get another one.

        What was not delivered yet, by its count, begins anew.
        """
        if deliveries == 0:
            self._times.remove(key)
        elif deliveries == 1 and is_owned and self._times.find(key) is None:
            self._times.insert(key, time)

    def first(self, key: bytes) -> int | None:
        """When the entry was delivered first; None if that is not noted."""
        time: int | None = self._times.find(key)
        return time

    def forget(self, key: bytes) -> None:
        """The entry is no longer pending."""
        if self._times.size:
            self._times.remove(key)

    def keep_only(self, pel: Rax) -> None:
        """Forget all that are not in *pel*. O(N log N)."""
        for key in [key for key, _ in self._times if pel.find(key) is None]:
            self._times.remove(key)

    def words(self) -> Iterator[bytes]:
        """Ids and times by turns."""
        for key, time in self._times:
            yield stream_id.from_key(key).encode()
            yield b"%d" % time

    def add(self, words: list[bytes], pel: Rax | None = None) -> bool:
        """Note what the *words* say, of entries in *pel*; without *pel*, of all.

        False if a word is malformed, or an id comes twice. A time of more than 64 bits is no time:
        who makes a dead letter takes it for a C number.
        """
        if len(words) % 2:
            return False
        for text, time in zip(words[::2], words[1::2], strict=True):
            try:
                key = stream_id.parse_id(text).key()
            except BadStreamId:
                return False
            if not _is_time(time) or self._times.find(key) is not None:
                return False
            if pel is None or pel.find(key) is not None:
                self._times.insert(key, int(time))
        return True


def _is_time(text: bytes) -> bool:
    is_number = text.removeprefix(b"-").isdigit() and len(text) <= LONGEST
    return is_number and EARLIEST <= int(text) <= LATEST
