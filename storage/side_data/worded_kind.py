"""Kinds of side data whose values are policies: words, each with a value.

In files such a policy is a list of texts, the words and their values by turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.side_data.side_kind import SideKind


class Worded(Protocol):
    """A policy."""

    def set(self, word: bytes, value: bytes) -> bool:
        """Set what *word* says. False if it is unknown, or *value* is bad."""

    def words(self) -> list[bytes]:
        """The words that were set, and their values: at least one."""


class WordedKind(SideKind):
    """The base of their rows. *make* makes a policy of defaults."""

    def __init__(self, name: bytes, make: Callable[[], Worded]) -> None:
        super().__init__(name)
        self._make = make

    def saved(self, value: Any) -> list[bytes]:
        """The words that files have."""
        words: list[bytes] = value.words()
        return words

    def copy(self, value: Worded) -> Worded:
        made = self._make()
        words = self.saved(value)
        for word, text in zip(words[::2], words[1::2], strict=True):
            made.set(word, text)
        return made

    def dump(self, value: Worded) -> bytes:
        return self.dump_words(self.saved(value))

    def dump_words(self, words: list[bytes]) -> bytes:
        """The form of these words."""
        writer = RdbWriter(compress=False)
        writer.length(len(words))
        for word in words:
            writer.string(word)
        return writer.take()

    def load(self, data: bytes) -> Worded:
        reader, made = RdbReader(data), self._make()
        count = reader.count(1)
        if not count or count % 2:
            raise Corrupt("a policy without words, or with one that has no value")
        for _ in range(count // 2):
            if not made.set(reader.string(), reader.string()):
                raise Corrupt("a policy with an unknown word or value")
        if reader.left() or len(self.saved(made)) != count:
            raise Corrupt("bytes after a policy, or a word twice")
        return made
