"""How keys are looked up while a command runs, or while data is loaded."""

from __future__ import annotations


class Lookup:
    """The server sets these for each command; without a server a look-up is a client's.

    no_touch        a look-up is no use of the key: CLIENT NO-TOUCH
    hides_expired   a key past its time is gone for readers, but is not removed: writes are paused
    keeps_expired   a key past its time is there: data is loaded, and the log alone decides
    """

    __slots__ = ("hides_expired", "keeps_expired", "no_touch")

    def __init__(self) -> None:
        self.no_touch = False
        self.hides_expired = False
        self.keeps_expired = False
