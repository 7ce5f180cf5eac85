"""The systemd unit: systemd itself finds no fault with it, and what it starts is a service."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import unit

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60


def parsed(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters="=", strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(text)
    return parser


def test_the_command_prints_the_unit() -> None:
    words = [sys.executable, "-m", "penstock", "unit", "/srv/my redis.conf"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said == unit.unit_text("/srv/my redis.conf")
    assert '"/srv/my redis.conf"' in said


@pytest.mark.parametrize("argv", [["a", "b"], ["--help"]])
def test_other_words_give_its_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert unit.print_unit(argv, "penstock") == (0 if argv == ["--help"] else 2)
    assert capsys.readouterr().err.startswith("Usage: penstock unit")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/etc/a.conf", "/etc/a.conf"),
        ("/etc/100%.conf", "/etc/100%%.conf"),
        ("/etc/$a", "/etc/$$a"),
        ("/etc/a b", '"/etc/a b"'),
        ('/etc/"a"', '"/etc/\\"a\\""'),
    ],
)
def test_a_path_is_quoted_as_systemd_reads_it(path: str, written: str) -> None:
    start = parsed(unit.unit_text(path))["Service"]["ExecStart"]
    assert f" serve {written} --supervised systemd" in start


def test_systemd_finds_no_fault_with_it(tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        missing = "systemd-analyze is not installed"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    path = tmp_path / "penstock.service"
    path.write_text(unit.unit_text())
    done = subprocess.run([verify, "verify", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_unit_starts_is_ready_reloads_and_stops(tmp_path: Path) -> None:
    """Its very command and signals, with a socket of the test in place of systemd's."""
    configuration = tmp_path / "my penstock.conf"
    configuration.write_text(f"port 0\nunixsocket {tmp_path}/door\ndaemonize yes\n")
    service = parsed(unit.unit_text(str(configuration)))["Service"]
    assert (service["Type"], service["ExecReload"]) == ("notify", "/bin/kill -HUP $MAINPID")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(TIMEOUT_S)
        process = subprocess.Popen(
            shlex.split(service["ExecStart"]),
            cwd=tmp_path,
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
            stdout=subprocess.DEVNULL,
        )
        try:
            hear(systemd, b"READY=1")
            process.send_signal(signal.SIGHUP)
            hear(systemd, b"RELOADING=1")
            hear(systemd, b"READY=1")
            process.terminate()
            hear(systemd, b"STOPPING=1")
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()
            process.wait()


def hear(systemd: socket.socket, words: bytes) -> None:
    while words not in systemd.recv(4096):
        pass


def test_the_manual_shows_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/penstock/bin/python")
    manual = (ROOT / "docs" / "operations.md").read_text()
    shown = re.search(r"```ini\n(.*?)```", manual, re.DOTALL)
    assert shown is not None
    assert shown[1] == unit.unit_text()
