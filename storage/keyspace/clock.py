"""The time that storage goes by: it has no clock of its own, and is told."""

from __future__ import annotations


class Clock:
    """Unix time in ms. The server sets it before each batch of commands."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0
