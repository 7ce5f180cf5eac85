"""A server that a signal ends writes a report to its log first, and still ends by that signal."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.process import build
from tests.polling import until
from tests.ports import free_port

ROOT = Path(__file__).parents[3]
SECRET = b"a-secret-that-no-report-may-have"
only_compiled = pytest.mark.skipif(not build.compiled(), reason="the report is the compiled core's")


class Crashing:
    """A server process of the test's own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self.log = folder / "log"
        self._errors = (folder / "stderr").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "server", "--port", str(self.port), "--bind", "127.0.0.1",
             "--save", "", "--dir", str(folder), "--enable-debug-command", "yes", *options],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=self._errors,
        )  # fmt: skip
        self._socket = self._connect()
        self.ask(b"CLIENT SETNAME " + SECRET)
        self.ask(b"SET " + SECRET + b" " + SECRET)

    def _connect(self) -> socket.socket:
        return until(self._socket_or_end, "a server that listens")

    def _socket_or_end(self) -> socket.socket:
        assert self.process.poll() is None
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, line: bytes) -> bytes:
        """Send a command; the first part of its answer, b"" if the server has gone."""
        self._socket.sendall(line + b"\r\n")
        try:
            return self._socket.recv(1000)
        except ConnectionError:
            return b""

    def end(self) -> int:
        """How the process has ended: -n by the signal n."""
        return self.process.wait(60)

    def close(self) -> None:
        self._socket.close()
        self.process.kill()
        self.process.wait()
        self._errors.close()


@pytest.fixture
def crashing(tmp_path: Path) -> Iterator[Crashing]:
    server = Crashing(tmp_path, "--logfile", "log")
    yield server
    server.close()


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"])
@only_compiled
def test_a_fatal_signal_leaves_a_report_and_ends_the_process(name: str, crashing: Crashing) -> None:
    number = signal.Signals[name]
    os.kill(crashing.process.pid, number)
    assert crashing.end() == -number
    report = crashing.log.read_bytes()
    _, _, report = report.partition(b"=== PENSTOCK BUG REPORT START")
    assert report.count(b"BUG REPORT") == 1
    assert report.endswith(
        b"=== PENSTOCK BUG REPORT END. Make sure to include from START to END. ===\n"
    )
    expected = rb"Penstock \S+ \(Python \S+, compiled\) crashed by signal: %d, si_code: 0, pid: %d"
    assert re.search(expected % (number, crashing.process.pid), report)
    assert b'File "' in report  # of the stack of Python
    assert b"\nset, of client " in report
    assert SECRET not in report


@only_compiled
@pytest.mark.parametrize(
    ("crash", "passes"),
    [
        (b"DEBUG SEGFAULT", (b"/execution.", b"/dispatcher.", b"/connection.", b"/selector.")),
        (
            b"EVAL \"redis.call('DEBUG', 'SEGFAULT')\" 0",
            (b"/script_commands.", b"lua", b"/execution."),
        ),
    ],
    ids=["command", "script"],
)
def test_the_report_has_a_stack_of_c(
    crashing: Crashing, crash: bytes, passes: tuple[bytes, ...]
) -> None:
    """It goes from where the server crashed to where the process, or a script's stack, began."""
    assert crashing.ask(b"DEBUG SET-DISABLE-DENY-SCRIPTS 1") == b"+OK\r\n"
    assert crashing.ask(crash) == b""
    assert crashing.end() == -signal.SIGSEGV
    report = crashing.log.read_bytes()
    stack = report.partition(b"------ STACK TRACE ------\n")[2].partition(b"\n\n")[0]
    assert [name for name in passes if name not in stack] == []
    assert b"\n%b, of client " % crash.split()[0].lower() in report


def test_without_a_log_file_it_goes_to_the_standard_error(tmp_path: Path) -> None:
    server = Crashing(tmp_path)
    os.kill(server.process.pid, signal.SIGSEGV)
    assert server.end() == -signal.SIGSEGV
    server.close()
    report = (tmp_path / "stderr").read_bytes()
    assert b"Segmentation fault" in report  # in faulthandler's words
    assert SECRET not in report


def test_crash_log_enabled_no_leaves_no_report(tmp_path: Path) -> None:
    server = Crashing(tmp_path, "--logfile", "log", "--crash-log-enabled", "no")
    os.kill(server.process.pid, signal.SIGSEGV)
    assert server.end() == -signal.SIGSEGV
    server.close()
    for name in ("log", "stderr"):
        assert b"crashed" not in (tmp_path / name).read_bytes()
        assert b"Segmentation" not in (tmp_path / name).read_bytes()


@only_compiled
def test_config_set_switches_the_report_on_and_off(crashing: Crashing) -> None:
    assert crashing.ask(b"CONFIG SET crash-log-enabled no") == b"+OK\r\n"
    assert crashing.ask(b"CONFIG SET crash-log-enabled yes") == b"+OK\r\n"
    os.kill(crashing.process.pid, signal.SIGSEGV)
    assert crashing.end() == -signal.SIGSEGV
    assert crashing.log.read_bytes().count(b"crashed by signal: 11") == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [(b"DEBUG PANIC", b"Guru Meditation: "), (b"DEBUG ASSERT", b"=== ASSERTION FAILED ===")],
)
def test_debug_panic_and_assert_abort_or_exit(
    command: bytes, words: bytes, crashing: Crashing, tmp_path: Path
) -> None:
    assert crashing.ask(command) == b""
    assert crashing.end() == -signal.SIGABRT
    assert words in crashing.log.read_bytes()
    (tmp_path / "other").mkdir()
    exiting = Crashing(tmp_path / "other", "--logfile", "log", "--use-exit-on-panic", "yes")
    assert exiting.ask(command) == b""
    assert exiting.end() == 1
    exiting.close()
