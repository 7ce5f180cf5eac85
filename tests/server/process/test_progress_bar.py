"""The bar on a terminal: what it says, when it is drawn, and that it is nowhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from server.process import progress_bar
from server.process.log_line import LineFormatter
from server.process.progress_bar import EVERY_S, SOON_S, ProgressBar, erase, line
from tests.polling import until
from tests.ports import free_port

ROOT = Path(__file__).parents[3]
GB = 1 << 30


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Terminal:
    """A terminal; what was written to it can be read."""

    def __init__(self) -> None:
        self._ours, self.fd = pty.openpty()
        self._seen = b""

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def text(self) -> str:
        """All that was written to it so far."""
        while select.select([self._ours], [], [], 0)[0]:
            try:
                self._seen += os.read(self._ours, 4096)
            except OSError:  # nobody has it open any more
                break
        return self._seen.decode()

    def forget(self) -> None:
        self.text()
        self._seen = b""

    def close(self) -> None:
        os.close(self._ours)
        os.close(self.fd)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    terminal.resize(80)
    yield terminal
    erase()
    terminal.close()


def test_what_it_says() -> None:
    assert line("Loading", GB, 2 * GB, "bytes", 10, 120) == (
        "Loading  [####################--------------------]   50%  1.0 of 2.0 GB  11 s left"
    )
    assert line("Loading", GB, 2 * GB, "bytes", 10, 60) == (
        "Loading  [########--------]   50%  1.0 of 2.0 GB  11 s left"
    )
    assert line("Saving", 3, 10, "keys", 0, 60).endswith("  30%  3 of 10 keys")
    assert line("Loading", 1, 100, "bytes", 50, 120).endswith("  82 min left")
    assert line("Loading", 1, 100, "bytes", 100, 120).endswith("  2 h left")
    assert line("Loading", 0, 0, "bytes", 1, 80).endswith("100%  0 of 0 bytes")


@given(st.integers(0, 1 << 50), st.integers(0, 1 << 50), st.floats(0, 1e6), st.integers(0, 300))
def test_it_never_fills_the_line_and_never_wraps(
    done: int, total: int, elapsed_s: float, columns: int
) -> None:
    said = line("Checking 'dump.rdb'", done, total, "bytes", elapsed_s, columns)
    assert len(said) <= max(0, columns - 1)
    assert said.isprintable()


def test_it_is_drawn_after_a_while_and_not_too_often(terminal: Terminal) -> None:
    clock = Clock()
    bar = ProgressBar("Loading", 1000, fd=terminal.fd, monotonic_s=clock)
    bar.show(1)
    assert terminal.text() == ""
    assert not bar.is_shown
    clock.now_s += SOON_S
    bar.show(100)
    assert " 10%" in terminal.text()
    assert bar.is_shown
    bar.show(200)
    assert " 20%" not in terminal.text()
    clock.now_s += EVERY_S
    bar.show(300)
    assert " 30%" in terminal.text()
    terminal.forget()
    bar.end()
    assert terminal.text() == "\r\x1b[K"
    assert not bar.is_shown


def test_its_width_follows_the_terminal(terminal: Terminal) -> None:
    clock = Clock()
    bar = ProgressBar("Loading", 1000, fd=terminal.fd, monotonic_s=clock)
    for columns in (200, 60, 30, 5):
        clock.now_s += 1
        terminal.forget()
        terminal.resize(columns)
        bar.show(500)
        said = terminal.text().removeprefix("\r\x1b[K")
        assert said == line("Loading", 500, 1000, "bytes", clock.now_s - 100, columns)
        assert len(said) < columns


def test_a_line_of_the_log_wipes_it_off(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the line does not begin within the bar."""
    from server.process import log_output  # noqa: PLC0415  (its descriptor is replaced first)

    monkeypatch.setattr(log_output, "STDOUT", terminal.fd)
    clock = Clock()
    bar = ProgressBar("Loading", 1000, fd=terminal.fd, monotonic_s=clock)
    clock.now_s += 1
    bar.show(500)
    terminal.forget()
    log_output.StandardOutput(LineFormatter.__new__(LineFormatter)).write_line(b"a line\n")
    assert terminal.text() == "\r\x1b[Ka line\r\n"
    clock.now_s += 1
    bar.show(600)
    assert " 60%" in terminal.text()


def test_a_file_and_a_dumb_terminal_get_nothing(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    with (tmp_path / "log").open("wb") as file:
        bar = ProgressBar("Loading", 10, fd=file.fileno(), monotonic_s=clock)
        clock.now_s += 10
        bar.show(5)
    assert (tmp_path / "log").read_bytes() == b""
    monkeypatch.setenv("TERM", "dumb")
    bar = ProgressBar("Loading", 10, fd=terminal.fd, monotonic_s=clock)
    clock.now_s += 10
    bar.show(5)
    bar.end()
    assert terminal.text() == ""


def test_a_terminal_that_takes_nothing_is_not_waited_for(terminal: Terminal) -> None:
    clock = Clock()
    bar = ProgressBar("Loading", 1 << 30, fd=terminal.fd, monotonic_s=clock)
    for done in range(2000):  # more than a terminal that nobody reads holds
        clock.now_s += 1
        bar.show(done)
    bar.end()


def test_a_terminal_that_has_gone_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    clock = Clock()
    bar = ProgressBar("Loading", 10, fd=terminal.fd, monotonic_s=clock)
    clock.now_s += 1
    bar.show(1)
    terminal.close()
    clock.now_s += 1
    bar.show(5)
    bar.end()
    assert progress_bar._on_screen.bar is None


# ---------------------------------------------------------------------- whole processes


def serve(folder: Path, port: int, stderr: int, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "server", "--port", str(port), "--bind", "127.0.0.1"]
    ours = ["--dir", str(folder), "--save", "3600 1", "--enable-debug-command", "local"]
    return subprocess.Popen(
        [*command, *ours, *options],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip


def fill(port: int, keys: int, process: subprocess.Popen[bytes]) -> None:
    """Make so many keys, and have the server stop."""
    try:
        with redis.Redis(port=port) as client:
            until(client.ping, "a server that answers")
            client.execute_command("DEBUG", "POPULATE", keys)
    finally:
        process.terminate()


def test_who_waits_sees_saving_and_loading(terminal: Terminal, tmp_path: Path) -> None:
    port = free_port()
    slow_save = ("--rdb-key-save-delay", "100")  # microseconds: a second for all keys
    with serve(tmp_path, port, terminal.fd, *slow_save) as process:
        fill(port, 10_000, process)
        until(lambda: process.poll() is not None, "its end")
    assert "Saving  [" in terminal.text()
    assert " of 10,000 keys" in terminal.text()
    terminal.forget()
    with serve(tmp_path, port, terminal.fd, "--key-load-delay", "150") as process:
        try:
            until(lambda: "Loading  [" in terminal.text(), "a bar")
        finally:
            process.kill()


CHECK_AT_ONCE = """
import sys
from server.check.__main__ import main
from server.process import progress_bar
progress_bar.SOON_S = 0.0  # the files are small
sys.exit(main(sys.argv[1:]))
"""


def test_who_checks_files_sees_how_far_it_is(terminal: Terminal, tmp_path: Path) -> None:
    commands = b"".join(b"*3\r\n$3\r\nSET\r\n$4\r\n%04d\r\n$1\r\nx\r\n" % n for n in range(2000))
    (tmp_path / "old.aof").write_bytes(commands)
    ran = subprocess.run(
        [sys.executable, "-c", CHECK_AT_ONCE, str(tmp_path / "old.aof")],
        cwd=ROOT, env={**os.environ, "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=terminal.fd,
        check=True,
    )  # fmt: skip
    assert "Checking 'old.aof'  [" in terminal.text()
    assert terminal.text().endswith("\r\x1b[K")
    assert b"\x1b" not in ran.stdout


def test_a_start_without_a_terminal_says_nothing(tmp_path: Path) -> None:
    port = free_port()
    with (
        (tmp_path / "errors").open("wb") as errors,
        serve(tmp_path, port, errors.fileno(), "--rdb-key-save-delay", "100") as process,
    ):
        fill(port, 7000, process)
    assert (tmp_path / "errors").read_bytes() == b""
