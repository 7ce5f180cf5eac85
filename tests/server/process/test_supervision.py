"""Supervision: systemd or upstart is told when the server is ready."""

import logging
import os
import signal
import socket
import subprocess
import sys

import pytest

from server.config.parameters import Config
from server.process import supervision


@pytest.fixture
def config(monkeypatch):
    for variable in supervision.VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    return Config()


@pytest.fixture
def systemd(config, monkeypatch, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(path)
        sock.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        yield sock


@pytest.mark.parametrize("supervised", ["systemd", "auto"])
def test_systemd_is_told_when_the_server_is_ready(config, systemd, supervised):
    config.supervised = supervised
    supervision.notify_ready(config)
    assert systemd.recv(100) == b"STATUS=Ready to accept connections\nREADY=1\n"
    assert supervision.supervisor(config) == "systemd"


def test_a_server_that_systemd_starts_reports_when_it_serves(config, systemd, tmp_path):
    """With ``--supervised systemd`` and Type=notify, as in Debian's unit."""
    door = str(tmp_path / "door")
    command = [sys.executable, "-m", "server", "--port", "0", "--unixsocket", door, "--save", ""]
    process = subprocess.Popen(
        [*command, "--supervised", "systemd"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        systemd.settimeout(60)
        assert systemd.recv(100).endswith(b"READY=1\n")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(door)
            client.sendall(b"PING\r\n")
            assert client.recv(100) == b"+PONG\r\n"
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("supervised", ["no", "upstart"])
def test_systemd_is_not_told_unless_configured(config, systemd, supervised):
    config.supervised = supervised
    supervision.notify_ready(config)
    with pytest.raises(BlockingIOError):
        systemd.recv(100)


def test_a_socket_of_the_abstract_namespace_begins_with_an_at_sign(config, monkeypatch):
    name = f"penstock-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("\0" + name)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + name)
        config.supervised = "systemd"
        supervision.notify_ready(config)
        assert sock.recv(100).endswith(b"READY=1\n")


def test_without_systemd_nothing_happens(config):
    config.supervised = "systemd"
    supervision.notify_ready(config)
    assert supervision.supervisor(config) == "no"


@pytest.mark.parametrize(("supervised", "goes"), [("no", True), ("auto", False)])
def test_a_server_under_systemd_does_not_go_to_the_background(config, systemd, supervised, goes):
    config.supervised = supervised
    assert not supervision.in_background(config)
    config.daemonize = True
    assert supervision.in_background(config) is goes


def test_a_missing_notify_socket_is_only_logged(config, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    config.supervised = "systemd"
    with caplog.at_level(logging.WARNING):
        supervision.notify_ready(config)
    assert "No such file or directory" in caplog.text


def test_under_upstart_the_process_stops_itself(config, monkeypatch):
    sent = []
    monkeypatch.setattr(os, "kill", lambda *signal: sent.append(signal))
    monkeypatch.setenv("UPSTART_JOB", "redis")
    config.supervised = "auto"
    supervision.notify_ready(config)
    assert sent == [(os.getpid(), signal.SIGSTOP)]
