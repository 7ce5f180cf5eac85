"""The libraries of functions, which snapshots and the AOF keep besides the databases, as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class FunctionStore(Protocol):
    """Has the libraries that are saved, and takes those that are loaded."""

    @property
    def library_sources(self) -> Sequence[bytes]:
        """The texts of the libraries."""

    def load_stored(self, source: bytes, replaces: bool) -> None:
        """Take the library of that text; in place of the one of its name, if it *replaces* that.

        Raises ErrorReply for a text that is not a library, and for a name that exists already.
        """


class NoFunctions:
    """Stands for it where nobody runs functions: libraries are forgotten."""

    library_sources: Sequence[bytes] = ()

    def load_stored(self, _source: bytes, _replaces: bool) -> None:
        """Forget it."""


class FunctionTexts:
    """Keeps the texts of the libraries that are loaded, until they can be used."""

    def __init__(self) -> None:
        self.library_sources: list[bytes] = []

    def load_stored(self, source: bytes, _replaces: bool) -> None:
        self.library_sources.append(source)
