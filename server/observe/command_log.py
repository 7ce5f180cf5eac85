"""A log of commands that stand out, the newest first: SLOWLOG, and those of COMMANDLOG.

14  1700000000  15320  [SORT, mylist, ... (3 more bytes)]  127.0.0.1:50412  worker
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import count, islice
from typing import NamedTuple

from server.config.parameters import Config
from server.observe.part import Part


class Entry(NamedTuple):
    """One command; its words are cut."""

    id: int
    time_s: int  # unix time when it was done
    amount: int  # what it stands out by: microseconds, or bytes
    words: list[bytes]
    address: str
    client_name: bytes
    words_sent: int  # how many the command had


class CommandLog(Part):
    """Keeps the last entries. A subclass says how many, and which commands stand out."""

    def __init__(self) -> None:
        self._ids = count()
        self._entries: deque[Entry] = deque()  # the newest is the first
        self._most_entries = 0

    def configured(self, config: Config) -> None:
        """A shorter length takes effect with the next entry, as in Redis."""
        self._most_words = config.slowlog_entry_max_argc
        self._most_bytes = config.slowlog_entry_max_string_len

    def __len__(self) -> int:
        return len(self._entries)

    def newest(self, most: int) -> list[Entry]:
        """The last *most* entries; all if it is negative."""
        return list(self._entries if most < 0 else islice(self._entries, most))

    def add(
        self, time_s: int, amount: int, words: Sequence[bytes], address: str, name: bytes
    ) -> None:
        """Add a command. Its secrets must be hidden already."""
        kept = self._cut(words)
        entry = Entry(next(self._ids), time_s, amount, kept, address, name, len(words))
        self._entries.appendleft(entry)
        while len(self._entries) > self._most_entries:
            self._entries.pop()

    def _cut(self, words: Sequence[bytes]) -> list[bytes]:
        """*words* as they are kept: an entry of a command with a million words stays small."""
        if len(words) <= self._most_words:
            return [self._cut_word(word) for word in words]
        kept = max(self._most_words - 1, 0)
        rest = b"... (%d more arguments)" % (len(words) - kept)
        return [*(self._cut_word(word) for word in words[:kept]), rest]

    def _cut_word(self, word: bytes) -> bytes:
        rest = len(word) - self._most_bytes
        return word if rest <= 0 else b"%b... (%d more bytes)" % (word[: self._most_bytes], rest)

    def clear(self) -> None:
        """Forget all entries; the numbers of new ones continue."""
        self._entries.clear()
