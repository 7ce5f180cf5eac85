"""What the server sets for all of its keyspaces: the time, and how keys are looked up and freed."""

from __future__ import annotations

from typing import Any, Protocol

from storage import types

MANY_PARTS = 64  # a value of so many, or of fewer, is freed by the thread that removes it


class Clock:
    """Unix time in ms: storage reads no clock itself. Set before each batch of commands."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0


class Lookup:
    """How keys are looked up while a command runs, or while data is loaded.

    The server sets these for each command; without a server they are as for a client's command.

    no_touch        a look-up does not set the key's last use: CLIENT NO-TOUCH, or by_writes
    by_writes       a change sets it: an LRM policy evicts what has not changed for longest
    spares_pages    the same: a child reads the memory, and each page that is written to is copied
    hides_expired   an expired key is gone for readers, but is not removed: writes are paused
    keeps_expired   an expired key is still there: an AOF is loaded, and only the AOF removes keys
    """

    __slots__ = ("by_writes", "hides_expired", "keeps_expired", "no_touch", "spares_pages")

    def __init__(self) -> None:
        self.no_touch = False
        self.by_writes = False
        self.spares_pages = False
        self.hides_expired = False
        self.keeps_expired = False


class LooseKeys:
    """How many keys of a server's databases have values that may be packed when not in use.

    A small hash, set, sorted set or list is packed beside its key (storage/keyspace/segment.py). It
    is an object while somebody changes it: from its first change on its key is *loose*, until it is
    packed. A key table notes its own loose keys; this is their number in all tables.

    When there are *many*, a value that is changed is packed again at once: a client that changes
    one after the other gains nothing by their objects. One that changes few has them all loose.
    """

    __slots__ = ("count", "many")

    def __init__(self) -> None:
        self.count = 0
        self.many = 1024


class Large(Protocol):
    """What takes long to be freed."""

    def shed(self, most: int) -> bool:
        """Forget *most* of its parts, about. True if none is left."""


class LazyFreeing:
    """Which removed values Redis frees in another thread: here they are freed at once, but counted.

    What is large beside a removed key (its schedule) waits in *doomed*; the server empties it some
    at a time. The server sets these by its parameters:

    of_expired     keys whose time is over: lazyfree-lazy-expire
    of_evicted     keys that make room: lazyfree-lazy-eviction
    of_replaced    values that a command replaces: lazyfree-lazy-server-del
    """

    __slots__ = ("count", "doomed", "of_evicted", "of_expired", "of_replaced")

    def __init__(self) -> None:
        self.of_expired = False
        self.of_evicted = False
        self.of_replaced = False
        self.count = 0  # lazyfreed_objects
        self.doomed: list[Large] = []

    def note(self, value: Any) -> None:
        """Count *value*, which is about to be removed lazily; None: there is no value."""
        if value is not None and types.of(value).parts(value) > MANY_PARTS:
            self.count += 1
