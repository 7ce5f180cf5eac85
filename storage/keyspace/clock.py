"""The current time, as the server tells it to storage, which reads no clock itself."""

from __future__ import annotations


class Clock:
    """Unix time in ms. The server sets it before each batch of commands."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0
