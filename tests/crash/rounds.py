"""Ends a server under load, starts it again, and looks for the acknowledged writes.

    round:  start -> write, rewrite, save -> an end at a random moment -> start -> check

A writer knows how many of its commands were acknowledged. After the restart its keys must be in the
state that they had after the last of these, or after a later one. That holds after a clean stop
however the data is kept, and after kill -9 with every appendfsync.
"""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash.disturbed_disk import STEPS
from tests.crash.wire import Wire
from tests.crash.workload import first_command, read_state
from tests.crash.writer import RETRY_S, TIMEOUT_S, Track, Writer, is_loaded
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
WRITERS = 6
RESTARTS = 3  # of one round
KEY_DELAY_US = 20_000  # of a child, so that its rewrite lasts for some tenths of a second
WITHIN_S = 0.3  # of its beginning a rewrite is killed
MOST_WRITES = 3  # after the step of the disk at which the server is killed

KEEPS = {
    "always": ["--appendonly", "yes", "--appendfsync", "always", "--save", ""],
    "everysec": ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""],
    "no": ["--appendonly", "yes", "--appendfsync", "no", "--save", ""],
    "rdb": ["--appendonly", "no", "--save", "3600 1"],
}


class BadExit(Exception):
    """The server ended with an error."""


class CrashTest:
    """One data folder and the server on it, through many rounds.

    *keeps* says how data is kept, and is a key of KEEPS; *end* says how rounds end, a key of ENDS.
    An fsync in the background takes *sync_s* longer than it would.
    """

    def __init__(self, folder: Path, keeps: str, end: str = "kill", sync_s: float = 0.0) -> None:
        self._folder = folder
        self._sync_s = sync_s
        self._keeps = keeps
        self._end = end
        self._tracks = [Track(number) for number in range(WRITERS)]
        self._port = 0
        self._process: subprocess.Popen[bytes]
        self.commands = 0  # acknowledged in all rounds

    def round(self) -> None:
        """Start, write, end, start again and check. Raises AssertionError if something was lost."""
        self._port = free_port()
        step, writes = 0, 0
        if self._end == "kill-at-step":
            step, writes = random.randint(1, STEPS), random.randint(0, MOST_WRITES)
        self._start("tests.crash.disturbed_disk", str(self._sync_s), str(step), str(writes))
        try:
            with Wire(self._port) as wire:
                self._prepare(wire)
                writers = [Writer(t, self._port, self._end == "restart") for t in self._tracks]
                for writer in writers:
                    writer.start()
                self._disturb(wire)
                ENDS[self._end](self, wire)
            for writer in writers:
                writer.comes_back = False
            if self._process.poll() is None:
                self.stop()
        finally:
            self._process.kill()
            self._process.wait()
        for writer in writers:
            writer.join(TIMEOUT_S)
            assert writer.problem is None, writer.problem
        self._check(writers)

    def _prepare(self, wire: Wire) -> None:
        if wire.call(b"EXISTS", b"stream:0"):
            return
        for number in range(WRITERS):
            wire.call(*first_command(number))
        if self._keeps == "rdb":
            wire.call(b"SAVE")
        else:
            wire.call(b"WAITAOF", b"1", b"0", b"5000")

    def _disturb(self, wire: Wire) -> None:
        """Let the writers work for a moment, perhaps with a rewrite or a snapshot meanwhile."""
        time.sleep(random.uniform(0.02, 0.4))
        if self._end in IN_REWRITE:
            return
        for job in (b"BGREWRITEAOF", b"BGSAVE"):
            if random.random() < 0.4:
                wire.send([[job]])
                wire.receive()
                time.sleep(random.uniform(0, 0.3))

    # ------------------------------------------------------------------ ends

    def kill(self, _wire: Wire) -> None:
        self._process.kill()
        self._process.wait()

    def kill_in_rewrite(self, wire: Wire) -> None:
        """Kill it while its child writes a base."""
        while True:
            wire.send([[b"BGREWRITEAOF"]])
            wire.receive()
            time.sleep(random.uniform(0, WITHIN_S))
            if self._has_child():
                self.kill(wire)
                return

    def kill_at_step(self, wire: Wire) -> None:
        """Rewrite; the server is killed by its disk."""
        with contextlib.suppress(OSError):
            wire.send([[b"BGREWRITEAOF"]])
            wire.receive()
        assert self._process.wait(TIMEOUT_S) == -signal.SIGKILL

    def _has_child(self) -> bool:
        pid = self._process.pid
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def terminate(self, _wire: Wire) -> None:
        self.stop()

    def shut_down(self, wire: Wire) -> None:
        wire.send([[b"SHUTDOWN"]])
        self._await_end()

    def shut_down_in_rewrite(self, wire: Wire) -> None:
        wire.send([[b"BGREWRITEAOF"], [b"SHUTDOWN"]])
        self._await_end()

    def shut_down_in_save(self, wire: Wire) -> None:
        wire.send([[b"BGSAVE"], [b"SHUTDOWN"]])
        self._await_end()

    def restart(self, _wire: Wire) -> None:
        """Stop and start the server several times; the writers reconnect by themselves."""
        for _ in range(RESTARTS):
            self.stop()
            self._start("server")
            time.sleep(random.uniform(0.05, 0.5))

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._await_end()

    def _await_end(self) -> None:
        status = self._process.wait(TIMEOUT_S)
        if status:
            raise BadExit(f"the server has ended with status {status}:\n{self._end_of_the_log()}")

    # ------------------------------------------------------------------ starts

    def _start(self, *program: str) -> None:
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *program, "--port", str(self._port), "--bind", "127.0.0.1",
                 "--dir", str(self._folder), *KEEPS[self._keeps],
                 *(IN_REWRITE.get(self._end) or ["--auto-aof-rewrite-min-size", "64kb"])],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError), Wire(self._port) as wire:
                if is_loaded(wire):
                    return
            time.sleep(RETRY_S)
        self._process.kill()
        self._process.wait()
        raise AssertionError("the server does not start again:\n" + self._end_of_the_log())

    def _end_of_the_log(self) -> str:
        log = (self._folder / "server.log").read_text(errors="replace")
        return "\n".join(log.splitlines()[-25:])

    # ------------------------------------------------------------------ checks

    def _check(self, writers: list[Writer]) -> None:
        """Start the server again, and compare its data with what it acknowledged."""
        self._start("server")
        try:
            with Wire(self._port) as wire:
                for writer in writers:
                    writer.check(read_state(wire, writer.track.number))
                    self.commands += writer.total
        finally:
            self._process.kill()
            self._process.wait()


ENDS: dict[str, Callable[[CrashTest, Wire], None]] = {
    "kill": CrashTest.kill,
    "kill-in-rewrite": CrashTest.kill_in_rewrite,
    "kill-at-step": CrashTest.kill_at_step,
    "term": CrashTest.terminate,
    "shutdown": CrashTest.shut_down,
    "shutdown-in-rewrite": CrashTest.shut_down_in_rewrite,
    "shutdown-in-save": CrashTest.shut_down_in_save,
    "restart": CrashTest.restart,
}

# The ends that begin their rewrite themselves, and the options of a server for them.
IN_REWRITE = {
    "kill-in-rewrite": [
        "--auto-aof-rewrite-percentage",
        "0",
        "--rdb-key-save-delay",
        str(KEY_DELAY_US),
    ],
    "kill-at-step": ["--auto-aof-rewrite-percentage", "0"],
}
