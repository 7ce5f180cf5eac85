"""A client that writes without end, and knows how far it got."""

from __future__ import annotations

import contextlib
import random
import threading
import time

from tests.crash.wire import Wire
from tests.crash.workload import State, command, read_state

PIPELINE = 8  # commands on their way at once, at most
PATIENCE_S = 60.0  # until a server that is started again answers
RETRY_S = 0.05


class Track:
    """What is known of one writer's commands: that the first *done* are in the data."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.done = 0
        self._state = State()

    def follow(self, found: State, least: int, most: int) -> None:
        """Find out after which command its keys are as *found*, between *least* and *most*.

        Raises AssertionError if after none: something was lost, or done twice.
        """
        n, begun = self.done, self.done
        while (n < least or self._state != found) and n < most:
            self._state.do(command(self.number, n))
            n += 1
        self.done = n
        assert self._state == found, (
            f"writer {self.number}: of the commands behind {begun}, those up to {least} were to be"
            f" kept, but the data is as after none of {least} .. {most}"
        )


class Writer(threading.Thread):
    """Sends its commands until the server is gone; if it *comes_back*, until it is told to end."""

    def __init__(self, track: Track, port: int, comes_back: bool = False) -> None:
        super().__init__(daemon=True)
        self.track = track
        self.acknowledged: list[float] = []  # when, by the monotonic clock; since track.done
        self.total = 0  # acknowledged in all
        self.comes_back = comes_back
        self.problem: object = None
        self._port = port
        self._wire = Wire(port)

    def run(self) -> None:
        while self.problem is None:
            with contextlib.suppress(OSError):
                self._write()
            self._wire.close()
            if not self.comes_back:
                return
            self._come_back()

    def _write(self) -> None:
        at = self.track.done
        while self.problem is None:
            size = random.randint(1, PIPELINE)
            self._wire.send([command(self.track.number, n) for n in range(at, at + size)])
            for _ in range(size):
                self._take(self._wire.receive())
            at += size

    def _take(self, reply: object) -> None:
        if isinstance(reply, Exception):
            self.problem = reply
        self.acknowledged.append(time.monotonic())
        self.total += 1

    def _come_back(self) -> None:
        """Connect to the next server, which must have all that the last one acknowledged."""
        deadline = time.monotonic() + PATIENCE_S
        while self.comes_back and not self.problem and time.monotonic() < deadline:
            try:
                self._wire = Wire(self._port)
                if is_loaded(self._wire):
                    self.check(read_state(self._wire, self.track.number), self.acknowledged)
                    self.acknowledged = []
                    return
                self._wire.close()
            except AssertionError as error:
                self.problem = error
            except OSError:
                self._wire.close()
            time.sleep(RETRY_S)
        if self.comes_back and not self.problem:
            self.problem = TimeoutError("the server does not come back")

    def check(self, found: State, kept: list[float]) -> None:
        """See that *found* has what is to be *kept*, and nothing that was not sent."""
        begun = self.track.done
        most = begun + len(self.acknowledged) + PIPELINE
        self.track.follow(found, begun + len(kept), most)


def is_loaded(wire: Wire) -> bool:
    """Whether the server has loaded its data."""
    wire.send([[b"PING"]])
    return bool(wire.receive() == b"PONG")
