"""The libraries of functions, which snapshots and logs keep beside the databases, as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class StoredFunctions:
    """Where their texts are found to be written, and who takes those that were read.

    *load* raises ErrorReply for a text that is no library, and for one of a name that is there, if
    it is not told that this one is replaced.
    """

    __slots__ = ("load", "sources")

    def __init__(self) -> None:
        self.sources: Callable[[], Sequence[bytes]] = _none
        self.load: Callable[[bytes, bool], None] = _forget


def _none() -> Sequence[bytes]:
    return ()


def _forget(_source: bytes, _replaces: bool) -> None:
    """Do nothing: nobody runs functions."""
