"""SLOWLOG: the commands that took longest, the newest first.

14  1700000000  15320 us  [SORT, mylist, ... (3 more bytes)]  127.0.0.1:50412  worker
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import count, islice
from typing import NamedTuple

from server.config.parameters import Config
from server.observe.fact import COUNT, MILLISECONDS, Facts, counter, gauge
from server.observe.part import Part


class Entry(NamedTuple):
    """One slow command; its words are cut."""

    id: int
    time_s: int  # unix time when it was done
    duration_us: int
    words: list[bytes]
    address: str
    client_name: bytes
    words_sent: int  # how many the command had


class SlowLog(Part):
    """Keeps the last slowlog-max-len entries. *slower_than_us* below 0: none are added."""

    def __init__(self) -> None:
        self._ids = count()
        self._entries: deque[Entry] = deque()  # the newest is the first
        self.slower_than_us = -1
        self.statistics_reset()

    def configured(self, config: Config) -> None:
        """A shorter length takes effect with the next entry, as in Redis."""
        self.slower_than_us = config.slowlog_log_slower_than
        self._most_entries = config.slowlog_max_len
        self._most_words = config.slowlog_entry_max_argc
        self._most_bytes = config.slowlog_entry_max_string_len

    def statistics_reset(self) -> None:
        self.slow = 0  # commands that were added
        self.slow_us = 0  # what they took together
        self.slowest_us = 0

    def __len__(self) -> int:
        return len(self._entries)

    def newest(self, most: int) -> list[Entry]:
        """The last *most* entries; all if it is negative."""
        return list(self._entries if most < 0 else islice(self._entries, most))

    def add_if_slow(
        self, time_s: int, duration_us: int, words: Sequence[bytes], address: str, name: bytes
    ) -> bool:
        """Add a command, if it took long enough to be kept. Returns whether it did.

        Its secrets must be hidden already.
        """
        if not 0 <= self.slower_than_us <= duration_us or not self._most_entries:
            return False
        self.slow += 1
        self.slow_us += duration_us
        self.slowest_us = max(self.slowest_us, duration_us)
        kept = self._cut(words)
        entry = Entry(next(self._ids), time_s, duration_us, kept, address, name, len(words))
        self._entries.appendleft(entry)
        while len(self._entries) > self._most_entries:
            self._entries.pop()
        return True

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


SLOW = Facts[SlowLog](
    counter("slowlog_commands_count", COUNT, lambda log: log.slow,
            "Commands that were slow enough for SLOWLOG"),
    counter("slowlog_commands_time_ms_sum", MILLISECONDS, lambda log: log.slow_us // 1000,
            "What they took together"),
    gauge("slowlog_commands_time_ms_max", MILLISECONDS, lambda log: log.slowest_us // 1000,
          "What the slowest of them took"),
)  # fmt: skip
