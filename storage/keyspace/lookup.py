"""How keys are looked up while a command runs, or while data is loaded."""

from __future__ import annotations


class Lookup:
    """The server sets these for each command; without a server they are as for a client's command.

    no_touch        a look-up does not set the key's last use: CLIENT NO-TOUCH
    spares_pages    the same: a child reads the memory, and each page that is written to is copied
    hides_expired   an expired key is gone for readers, but is not removed: writes are paused
    keeps_expired   an expired key is still there: an AOF is loaded, and only the AOF removes keys
    """

    __slots__ = ("hides_expired", "keeps_expired", "no_touch", "spares_pages")

    def __init__(self) -> None:
        self.no_touch = False
        self.spares_pages = False
        self.hides_expired = False
        self.keeps_expired = False
