"""The servers under measurement: they listen on a free loopback port, and are measured by /proc.

CPU time is the sum over the server's threads of the first number in their ``schedstat``, which
is nanoseconds on a CPU, user and kernel together. Resident memory is ``VmRSS`` in ``status``.

If the machine has two CPUs or more, each server is pinned to the first and the load generator to
the second, so that neither takes CPU time from the other.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from bench.certificate import Certificate
from bench.client import Client, RefusedError
from tests.ports import free_port

PENSTOCK = f"{shlex.quote(sys.executable)} -m server"
REDIS = "redis-server"
START_SECONDS = 30.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.001  # the start of the quickest takes some milliseconds
ROOT = Path(__file__).resolve().parent.parent


class ServerError(Exception):
    """A server did not start; the text has the last lines that it printed."""


@dataclass(frozen=True)
class Usage:
    """What a server has used so far: *cpu* in seconds, *resident* in bytes, open *files*."""

    cpu: float
    resident: int
    files: int


class Server:
    """One running server. Use it as a context manager: it is stopped at the end.

    It saves its data in a temporary folder, which is removed when it stops. *command* is split as
    by a shell; the settings that every server gets are appended. With *certificate*, the load goes
    to a TLS port.
    Raises ServerError if it does not answer PING within START_SECONDS. *start_seconds* is how long
    that took.
    """

    def __init__(
        self, name: str, command: str, *options: str, certificate: Certificate | None = None
    ) -> None:
        self.name = name
        self.port = self.load_port = free_port()
        if certificate is not None:
            self.load_port = free_port()
            options = (*options, *certificate.server_options(self.load_port))
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by stop)
        self._folder = tempfile.TemporaryDirectory()  # as above
        self.folder = Path(self._folder.name)
        words = [*shlex.split(command), *common_options(self.port), "--dir", self._folder.name]
        began = time.monotonic()
        self._process = subprocess.Popen(
            [*on_cpu(0), *words, *options], cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT
        )
        self.pid = self._process.pid
        try:
            self._await_pong()
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.monotonic() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def client(self) -> Client:
        """A new connection to the server."""
        return Client(self.port)

    def usage(self) -> Usage:
        """CPU time, memory and files as of now."""
        return Usage(cpu_seconds(self.pid), resident_bytes(self.pid), open_files(self.pid))

    def info(self) -> dict[str, str]:
        """The fields of INFO, all sections."""
        with self.client() as client:
            return client.info()

    def stop(self) -> None:
        """End the server: SIGTERM, and SIGKILL if that takes longer than STOP_SECONDS."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()
        self._folder.cleanup()

    def _await_pong(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise ServerError(f"{self.name} ended at its start:\n{self._last_words()}")
            try:
                with self.client() as client:
                    client.call("PING")
                    return
            except (OSError, RefusedError):
                time.sleep(POLL_SECONDS)
        raise ServerError(f"{self.name} did not answer:\n{self._last_words()}")

    def _last_words(self) -> str:
        self._log.seek(0)
        return self._log.read()[-2000:].decode(errors="replace")


# Starts all servers, ours first, with the given options; a with statement stops them.
Start = Callable[..., AbstractContextManager[list[Server]]]


def in_turns(servers: Sequence[Server], rounds: int) -> Iterator[Server]:
    """Each of *servers* once in each round, in an order that changes from round to round."""
    for number in range(rounds):
        first = number % len(servers)
        order = [*servers[first:], *servers[:first]]
        yield from order if number % 2 == 0 else reversed(order)


def common_options(port: int) -> list[str]:
    """The settings all servers get: no persistence, the loopback only."""
    return ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]


def cpu_seconds(pid: int) -> float:
    """Seconds of CPU that all threads of a process have used."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def open_files(pid: int) -> int:
    """How many file descriptors a process holds."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def pinned() -> bool:
    """Whether servers and load generator have different CPUs."""
    return (os.cpu_count() or 1) >= 2 and shutil.which("taskset") is not None


def pin_generator() -> None:
    """Keep this process, and the load generators that it starts, off the servers' CPU."""
    if pinned():
        os.sched_setaffinity(0, {1})


@contextmanager
def undisturbed(server_pid: int) -> Iterator[bool]:
    """Let this process, and the server's, have their CPUs before all others meanwhile.

    False if they cannot be had: that takes two CPUs, and root.
    """
    if not pinned() or os.geteuid() != 0:
        yield False
        return
    give_precedence(0)
    give_precedence(server_pid)
    try:
        yield True
    finally:
        give_precedence(0, is_given=False)
        give_precedence(server_pid, is_given=False)


def give_precedence(pid: int, is_given: bool = True) -> None:
    """Let all threads of a process run before those of others, or not any more. 0: this thread."""
    policy = os.SCHED_FIFO if is_given else os.SCHED_OTHER
    threads = os.listdir(f"/proc/{pid}/task") if pid else [0]
    for thread in map(int, threads):
        with suppress(ProcessLookupError):  # one that has ended meanwhile
            os.sched_setscheduler(thread, policy, os.sched_param(int(is_given)))


def on_cpu(cpu: int) -> list[str]:
    """The words before a command that pin it to a CPU; none if nothing is pinned."""
    return ["taskset", "--cpu-list", str(cpu)] if pinned() else []
