"""A client that keeps writing, and knows how many of its commands were acknowledged."""

from __future__ import annotations

import contextlib
import random
import threading
import time

from tests.crash.wire import Wire
from tests.crash.workload import State, command, read_state

PIPELINE = 8  # the most commands sent and not yet answered
TIMEOUT_S = 60.0  # until a restarted server answers
RETRY_S = 0.05


class Track:
    """One writer's progress: its first *done* commands are in the data."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.done = 0
        self._state = State()

    def follow(self, found: State, least: int, most: int) -> None:
        """Find after how many commands, from *least* to *most*, the keys are as *found*.

        Raises AssertionError if there is none: a command was lost, or done twice.
        """
        n, begun = self.done, self.done
        while (n < least or self._state != found) and n < most:
            self._state.do(command(self.number, n))
            n += 1
        self.done = n
        assert self._state == found, (
            f"writer {self.number}: of the commands after {begun}, those up to {least} were to be"
            f" kept, but the data is as after none of {least} .. {most}"
        )


class Writer(threading.Thread):
    """Sends commands until the server ends, or if it *comes_back*, until that is set to False."""

    def __init__(self, track: Track, port: int, comes_back: bool = False) -> None:
        super().__init__(daemon=True)
        self.track = track
        self.acknowledged = 0  # commands after track.done
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
        self.acknowledged += 1
        self.total += 1

    def _come_back(self) -> None:
        """Connect to the restarted server, which must have all acknowledged writes."""
        deadline = time.monotonic() + TIMEOUT_S
        while self.comes_back and not self.problem and time.monotonic() < deadline:
            try:
                self._wire = Wire(self._port)
                if is_loaded(self._wire):
                    self.check(read_state(self._wire, self.track.number))
                    self.acknowledged = 0
                    return
                self._wire.close()
            except AssertionError as error:
                self.problem = error
            except OSError:
                self._wire.close()
            time.sleep(RETRY_S)
        if self.comes_back and not self.problem:
            self.problem = TimeoutError("the server does not come back")

    def check(self, found: State) -> None:
        """Check that *found* has all acknowledged commands, and none that was not sent."""
        least = self.track.done + self.acknowledged
        self.track.follow(found, least, least + PIPELINE)


def is_loaded(wire: Wire) -> bool:
    """Whether the server has loaded its data."""
    wire.send([[b"PING"]])
    return bool(wire.receive() == b"PONG")
