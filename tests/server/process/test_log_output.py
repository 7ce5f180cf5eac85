"""Where the server log goes: nothing that takes no lines holds the server up."""

from __future__ import annotations

import fcntl
import logging
import os
import select
import shutil
import socket
import stat
import subprocess
import sys
import syslog
import time
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.process import log_output
from server.process.log_line import LineFormatter
from server.process.log_output import (
    FileOutput,
    StandardOutput,
    SyslogOutput,
    open_log_file,
)
from tests.compat.processes import ROOT, ServerProcess

FORMATTER = LineFormatter(Config())


def record(text, level=logging.INFO):
    return logging.LogRecord("penstock", level, "file", 1, text, None, None)


@pytest.fixture
def pipe(monkeypatch):
    """A pipe in place of the standard output; what reads it."""
    reading, writing = os.pipe()
    monkeypatch.setattr(log_output, "STDOUT", writing)
    monkeypatch.setattr(log_output, "PATIENCE_MS", 1)
    yield reading
    os.close(writing)
    os.close(reading)


def drain(reading):
    taken = []
    while select.select([reading], [], [], 0)[0] and (piece := os.read(reading, 1 << 16)):
        taken.append(piece)
    return b"".join(taken).decode()


def test_a_standard_output_that_nobody_reads_does_not_hold_up_the_server(pipe):
    output = StandardOutput(FORMATTER)
    for number in range(5000):  # some 250 KB; a pipe holds 64 KB
        output.emit(record(f"line {number}"))
    first = drain(pipe)
    assert first.endswith("\n") or " * line " in first.splitlines()[-1]
    output.emit(record("read again"))
    told, again = drain(pipe).lstrip("\n").splitlines()
    whole = first.count("\n")
    assert f" # {5000 - whole} lines of the log were lost" in told
    assert again.endswith(" * read again")


def test_a_standard_output_that_is_read_slowly_is_waited_for_once_a_minute(pipe, monkeypatch):
    """Once, each line waited for the reader to take the one before."""
    output = StandardOutput(FORMATTER)
    waits = []

    class Poll:
        @staticmethod
        def poll(wait_ms):
            waits.append(wait_ms)
            return select.select([], [log_output.STDOUT], [], 0)[1]

    now_s = 1000.0
    monkeypatch.setattr(output, "_poll", Poll)
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    for _ in range(3):
        output.emit(record("x" * 200_000))
        drain(pipe)
        output.emit(record("short"))
        drain(pipe)
    assert len([wait_ms for wait_ms in waits if wait_ms]) == 1
    now_s += log_output.PATIENCE_EVERY_S
    output.emit(record("x" * 200_000))
    assert len([wait_ms for wait_ms in waits if wait_ms]) == 2


def test_a_line_that_was_torn_is_ended_before_the_next(pipe):
    output = StandardOutput(FORMATTER)
    output.emit(record("x" * 200_000))
    assert not drain(pipe).endswith("\n")
    output.emit(record("next"))
    rest = drain(pipe)
    assert rest.startswith("\n")
    assert rest.endswith(" * next\n")


def test_a_pipe_in_place_of_the_log_file_that_nobody_reads_is_refused(tmp_path):
    """Redis waits at its start for somebody who reads it."""
    path = tmp_path / "log"
    os.mkfifo(path)
    done = subprocess.run(
        [sys.executable, "-m", "server", "--dir", tmp_path, "--port", "0", "--logfile", path],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        f"penstock: Can't open the log file '{path}': No such device or address\n"
    )


def test_a_pipe_that_is_full_loses_lines_and_no_time(tmp_path):
    path = str(tmp_path / "log")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    output = FileOutput(path, FORMATTER)
    for number in range(5000):
        output.emit(record(f"line {number}"))
    assert drain(reading).count("\n") > 100
    output.emit(record("read again"))
    assert drain(reading).endswith(" * read again\n")
    os.close(reading)
    output.emit(record("nobody reads"))  # raises nothing


def test_a_full_disk_and_a_missing_folder_lose_lines_only(tmp_path, capfd):
    if Path("/dev/full").exists():
        FileOutput("/dev/full", FORMATTER).emit(record("lost"))
    folder = tmp_path / "gone"
    folder.mkdir()
    output = FileOutput(str(folder / "log"), FORMATTER)
    output.emit(record("one"))
    shutil.rmtree(folder)
    output.emit(record("lost"))
    folder.mkdir()
    output.emit(record("three"))
    assert (folder / "log").read_text().endswith(" * three\n")
    assert capfd.readouterr() == ("", "")


def test_the_log_file_is_for_its_owner_to_write_and_for_all_to_read(tmp_path):
    path = str(tmp_path / "log")
    before = os.umask(0o022)
    fd = open_log_file(path)
    os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
    assert fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    os.close(fd)


# ---------------------------------------------------------------------- syslog


def test_syslog_gets_the_message_with_its_priority(monkeypatch):
    opened, sent = [], []
    monkeypatch.setattr(syslog, "openlog", lambda *words: opened.append(words))
    monkeypatch.setattr(syslog, "syslog", lambda *words: sent.append(words))
    output = SyslogOutput("redis", "local3")
    output.emit(record("Ready"))
    output.emit(record("bad\nforged\0", logging.WARNING))
    output.emit(record("detail", logging.DEBUG))
    output.emit(record("more", logging.DEBUG + 5))
    assert opened == [("redis", syslog.LOG_PID, syslog.LOG_LOCAL3)]
    assert sent == [
        (syslog.LOG_NOTICE, "Ready"),
        (syslog.LOG_WARNING, "bad\\nforged\\x00"),
        (syslog.LOG_DEBUG, "detail"),
        (syslog.LOG_INFO, "more"),
    ]


def private_dev(folder: Path) -> list[str]:
    """What runs a command with a /dev of its own, in which *folder* / "log" is /dev/log."""
    script = (
        'set -e; for name in null zero random urandom; do touch "$0/$name"; '
        'mount --bind "/dev/$name" "$0/$name"; done; mount --rbind "$0" /dev; exec "$@"'
    )
    words = ["unshare", "--mount", "sh", "-c", script, str(folder)]
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    if tried.returncode:
        missing = f"no namespace of its own for /dev: {tried.stderr.decode()}"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return words


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/log is Linux's")
def test_a_server_logs_to_syslog_and_to_its_log(tmp_path):
    folder = tmp_path / "dev"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind(str(folder / "log"))
        daemon.settimeout(60)
        options = ["--syslog-enabled", "yes", "--syslog-ident", "a\nb", "--syslog-facility", "user"]
        server = ServerProcess(
            [*private_dev(folder), sys.executable, "-m", "server"], tmp_path, *options
        )
        try:
            heard: list[bytes] = []
            while not heard or b"Ready to accept connections tcp" not in heard[-1]:
                heard.append(daemon.recv(4096))
            head, _, message = heard[-1].partition(b": ")
            assert head.startswith(b"<%d>" % (syslog.LOG_USER | syslog.LOG_NOTICE))
            assert head.endswith(b"a\\nb[%d]" % server.process.pid)
            assert message == b"Ready to accept connections tcp"
            assert "Ready to accept connections tcp" in server.log.read_text()
        finally:
            server.stop()
