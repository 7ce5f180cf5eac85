"""A primary that lies: servers that follow it get broken handshakes, copies and streams.

PING, AUTH, REPLCONF, PSYNC   answers of ANSWERS, now and then wrong, missing, or too many
a copy                        a real one, or one with changed bytes, a wrong length, or no end
the stream                    commands of the stock, cut, mixed with noise and GETACK
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from random import Random
from select import EPOLLIN, EPOLLOUT

from fuzz.socket_crowd import Peer
from fuzz.socket_scene import Scene

ID = b"5" * 40
WRONG = 0.06  # how often an answer is one of NOISE
NOISE = (
    b"", b"\n", b"-ERR no\r\n", b"-LOADING\r\n", b"-NOAUTH\r\n", b"+\r\n", b":1\r\n", b"$5\r\nab",
    b"+FULLRESYNC\r\n", b"+CONTINUE\r\n", b"x" * 2000, b"\x00\xff\r\n", b"+OK\r\n+OK\r\n+OK\r\n",
    b"HTTP/1.1 400\r\n",
)  # fmt: skip
BETWEEN = (
    b"\n", b"*1\r\n$4\r\nPING\r\n", b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n",
    b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n", b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n",
)  # fmt: skip


class LyingPrimary(Peer):
    """Listens; *came* is called with each link."""

    def __init__(
        self, dice: Random, scene: Scene, copy: Callable[[], bytes], came: Callable[[Peer], None]
    ) -> None:
        sock = socket.create_server(("127.0.0.1", 0))
        sock.setblocking(False)
        super().__init__(sock)
        self._dice, self._scene, self._copy, self._came = dice, scene, copy, came

    @property
    def port(self) -> int:
        port: int = self.sock.getsockname()[1]
        return port

    def readable(self) -> None:
        try:
            sock, _ = self.sock.accept()
        except OSError:
            return
        sock.setblocking(False)
        self._came(Link(sock, Random(self._dice.random()), self._scene, self._copy))


class Link(Peer):
    """One link to a server that takes this for its primary, or MIGRATE's target."""

    def __init__(
        self, sock: socket.socket, dice: Random, scene: Scene, copy: Callable[[], bytes]
    ) -> None:
        super().__init__(sock)
        self._dice, self._scene, self._copy = dice, scene, copy
        self._out = memoryview(b"")
        self._leaves_s = time.monotonic() + dice.choice((0.05, 0.3, 1.0, 4.0))
        self._portion = dice.choice((1000, 60_000, 1 << 30, 1 << 30))  # bytes that it sends at once
        self._follows = False  # the stream has begun
        self._plan()

    def readable(self) -> None:
        data = bytes(self.receive()).upper()
        if not self.is_over:
            self._say(self._answers(data))
            self._plan()

    def writable(self) -> None:
        self._out = self._out[self.send(self._out[: self._portion]) :]
        self._plan()

    def tick(self, now_s: float) -> None:
        if now_s >= self._leaves_s:
            self.close(resets=self._dice.random() < 0.6)
            return
        if not self._out and self._follows:
            self._say(self._changes())
        self._plan()

    def _say(self, data: bytes) -> None:
        if data:
            self._out = memoryview(bytes(self._out) + data)

    def _plan(self) -> None:
        self.events = EPOLLIN | (EPOLLOUT if self._out else 0)
        self.due_s = min(self._leaves_s, time.monotonic() + 0.05)

    def _answers(self, data: bytes) -> bytes:
        answers = b""
        for line in data.split(b"\r\n"):
            if line in (b"PING", b"AUTH", b"REPLCONF", b"PSYNC", b"SYNC", b"RESTORE", b"SELECT"):
                answers += self._answer(line)
        return answers

    def _answer(self, command: bytes) -> bytes:
        dice = self._dice
        if dice.random() < WRONG:
            return dice.choice(NOISE)
        if command == b"PING":
            return b"+PONG\r\n"
        if command not in (b"PSYNC", b"SYNC"):
            return b"+OK\r\n"
        self._follows = True
        chance = dice.random()
        if chance < 0.15:
            return b"+CONTINUE %b\r\n" % ID + self._changes()
        offset = dice.choice((0, 1, 1000, 10**17))
        return b"+FULLRESYNC %b %d\r\n" % (ID, offset) + self._whole_copy() + self._changes()

    def _whole_copy(self) -> bytes:
        """The copy as it is sent, mostly with an end."""
        dice = self._dice
        copy = self._copy()
        if copy and dice.random() < 0.4:
            changed = bytearray(copy)
            for _ in range(dice.choice((1, 1, 5))):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            copy = bytes(changed)
        if dice.random() < 0.15:
            copy = copy[: dice.randrange(len(copy) + 1)]
        if dice.random() < 0.3:
            mark = dice.randbytes(20).hex().encode()
            return b"$EOF:%b\r\n" % mark + copy + (mark if dice.random() < 0.9 else b"")
        size = len(copy) if dice.random() < 0.9 else dice.choice((0, 1, 10**6, 10**12, 2**63, -1))
        return b"$%d\r\n" % size + copy

    def _changes(self) -> bytes:
        """Some of the stream."""
        dice = self._dice
        data = self._scene.pipeline(dice, dice.choice((0, 5, 100)))
        if dice.random() < 0.5:
            data = dice.choice(BETWEEN) + data + dice.choice(BETWEEN)
        if dice.random() < 0.05:
            data = data[: dice.randrange(len(data) + 1)] + dice.choice(NOISE)
        return data
