"""What one client of the fuzzer of sockets will do: drawn before it comes, then only carried out.

    Visit   how it comes, what it sends and when, how it reads, and how it ends
    Requests  builds what it sends, burst by burst

All times are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

NOTED = 12  # names of a visit's commands that a finding shows


class Road(Enum):
    """How a client comes."""

    TCP = auto()
    TLS = auto()
    UNIX = auto()


class End(Enum):
    """What a client does when its time is over. It may have been disconnected long before."""

    CLOSE = auto()
    RESET = auto()  # SO_LINGER 0: what is on its way is thrown away
    HALF_CLOSE = auto()  # it sends nothing more, and reads on for as long again


class Burst(NamedTuple):
    """*data* is sent *after* seconds from the burst before, or from the start."""

    after: float
    data: bytes


@dataclass
class Visit:
    """*reads* bytes at a time, every *pause* seconds; *most* bytes in all, then it is over.

    It is over after *lasts* seconds, too, which begin when it has sent all and the first byte has
    come if it *waits*, else when it comes. With *reads* 0 it reads nothing.
    """

    kind: str
    road: Road
    bursts: list[Burst]
    commands: int
    names: list[str]
    receive_buffer: int = 0  # SO_RCVBUF; 0: the system's
    reads: int = 1 << 20
    pause: float = 0.0
    most: int = 1 << 40
    lasts: float = 1.0
    waits: bool = False
    end: End = End.CLOSE
    cut_handshake: int = -1  # of TLS: so many bytes of the first message are sent, and nothing else

    def __str__(self) -> str:
        reads = f"{self.reads} B each {self.pause:.3f} s" if self.pause else f"{self.reads} B"
        return (
            f"{self.kind} by {self.road.name}: {' '.join(self.names)} ({self.commands} commands,"
            f" {sum(len(burst.data) for burst in self.bursts)} B); reads {reads}, at most"
            f" {self.most}; SO_RCVBUF {self.receive_buffer};"
            f" {self.end.name} after {self.lasts:.2f} s"
        )


@dataclass
class Requests:
    """Bursts of commands, and the names of the first of them."""

    bursts: list[Burst] = field(default_factory=list)
    commands: int = 0
    names: list[str] = field(default_factory=list)
    _parts: list[bytes] = field(default_factory=list)
    _after: float = 0.0

    def add(self, *words: bytes | str | int, times: int = 1) -> Requests:
        """A command, so many times."""
        argv = [_bytes(word) for word in words]
        name = b" ".join(argv[:2])[:24].decode("ascii", "replace")
        return self.raw(encoded(argv) * times, name if times == 1 else f"{name}x{times}", times)

    def add_all(self, commands: Iterable[str]) -> Requests:
        """Commands, each as one would type it."""
        for command in commands:
            self.add(*command.split())
        return self

    def raw(self, data: bytes, name: str, commands: int = 1) -> Requests:
        """Any bytes; *name* stands for them."""
        self._parts.append(data)
        self.commands += commands
        if len(self.names) < NOTED:
            self.names.append(name)
        return self

    def wait(self, seconds: float) -> Requests:
        """What follows is sent later."""
        self._end_burst()
        self._after = seconds
        return self

    def done(self) -> list[Burst]:
        """All bursts."""
        self._end_burst()
        return self.bursts

    def _end_burst(self) -> None:
        if self._parts:
            self.bursts.append(Burst(self._after, b"".join(self._parts)))
            self._parts = []
            self._after = 0.0


def encoded(argv: list[bytes]) -> bytes:
    """A command in RESP."""
    parts = [b"*%d\r\n" % len(argv)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in argv]
    return b"".join(parts)


def _bytes(word: bytes | str | int) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()
