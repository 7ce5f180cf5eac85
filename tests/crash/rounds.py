"""Kill a server that is being written to, start it again, and look for what was acknowledged.

    round:  start -> check what is there -> write, rewrite, save -> kill -9 at a random moment

A writer knows how many of its commands were acknowledged, and when. After the restart its keys must
be as they were after some command, none before the last that had to be kept:

    appendfsync always    the last one acknowledged
    everysec              the last one acknowledged more than LOSS_S before the kill
"""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.crash.wire import Wire
from tests.crash.workload import State, command, first_command, read_state

ROOT = Path(__file__).parents[2]
WRITERS = 4
PIPELINE = 8  # commands on their way at once, at most
START_S = 30.0
LOSS_S = 2.0


class Writer(threading.Thread):
    """Sends its commands from number *start* on until the server is gone."""

    def __init__(self, number: int, port: int, start: int) -> None:
        super().__init__(daemon=True)
        self.number = number
        self.start_at = start
        self.acknowledged: list[float] = []  # when, by the monotonic clock
        self.problem: object = None
        self._wire = Wire(port)

    def run(self) -> None:
        at = self.start_at
        try:
            while self.problem is None:
                size = random.randint(1, PIPELINE)
                self._wire.send([command(self.number, n) for n in range(at, at + size)])
                for _ in range(size):
                    self._take(self._wire.receive())
                at += size
        except OSError:
            pass  # killed
        finally:
            self._wire.close()

    def _take(self, reply: object) -> None:
        if isinstance(reply, Exception):
            self.problem = reply
        self.acknowledged.append(time.monotonic())


class CrashTest:
    """One data folder and the server on it, through many rounds."""

    def __init__(self, folder: Path, appendfsync: str) -> None:
        self._folder = folder
        self._appendfsync = appendfsync
        self._done = [0] * WRITERS  # commands that are in the data, for sure
        self._states = [State() for _ in range(WRITERS)]
        self.commands = 0  # acknowledged in all rounds
        self.lost = 0  # of those, the ones gone after a restart

    def round(self) -> None:
        """Start, check, write, kill. Raises AssertionError if something was lost."""
        port = _free_port()
        process = self._start(port)
        try:
            wire = Wire(port)
            if not wire.call(b"EXISTS", b"stream:0"):
                for number in range(WRITERS):
                    wire.call(*first_command(number))
                wire.call(b"WAITAOF", b"1", b"0", b"5000")
            writers = [Writer(n, port, self._done[n]) for n in range(WRITERS)]
            for writer in writers:
                writer.start()
            self._disturb(wire)
        finally:
            killed = time.monotonic()
            process.send_signal(signal.SIGKILL)
            process.wait()
        for writer in writers:
            writer.join(START_S)
            assert writer.problem is None, writer.problem
        self._check(writers, killed)

    def _disturb(self, wire: Wire) -> None:
        """Let the writers work for a moment, with what persistence does beside them."""
        time.sleep(random.uniform(0.02, 0.4))
        for job in (b"BGREWRITEAOF", b"BGSAVE"):
            if random.random() < 0.4:
                wire.send([[job]])
                time.sleep(random.uniform(0, 0.3))
        wire.close()

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        with (self._folder / "server.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "server", "--port", str(port), "--bind", "127.0.0.1",
                 "--dir", str(self._folder), "--save", "", "--appendonly", "yes",
                 "--appendfsync", self._appendfsync, "--auto-aof-rewrite-min-size", "64kb"],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if _is_loaded(port):
                    return process
            except OSError:
                time.sleep(0.01)
        process.kill()
        process.wait()
        words = (self._folder / "server.log").read_text(errors="replace").splitlines()[-15:]
        raise AssertionError("the server does not start again:\n" + "\n".join(words))

    def _check(self, writers: list[Writer], killed: float) -> None:
        """Start the server again and compare what it has with what it acknowledged."""
        port = _free_port()
        process = self._start(port)
        try:
            wire = Wire(port)
            for writer in writers:
                self._check_writer(writer, killed, read_state(wire, writer.number))
            wire.close()
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _check_writer(self, writer: Writer, killed: float, found: State) -> None:
        grace = 0.0 if self._appendfsync == "always" else LOSS_S
        kept = sum(1 for when in writer.acknowledged if when <= killed - grace or not grace)
        state, n = self._states[writer.number], writer.start_at
        least, most = n + kept, n + len(writer.acknowledged) + PIPELINE
        while (n < least or state != found) and n < most:
            state.do(command(writer.number, n))
            n += 1
        assert state == found, (
            f"writer {writer.number}: {len(writer.acknowledged)} commands acknowledged, {kept} of"
            f" them to be kept, but the data is as after none of {least} .. {most}"
        )
        self.commands += len(writer.acknowledged)
        self.lost += max(0, writer.start_at + len(writer.acknowledged) - n)
        self._done[writer.number] = n


def _is_loaded(port: int) -> bool:
    wire = Wire(port)
    try:
        wire.send([[b"PING"]])
        return wire.receive() == b"PONG"
    finally:
        wire.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
