"""Supervision: systemd, played by a socket of the test, is told of the whole life of the server."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.process import supervision, systemd
from server.process.supervision import Supervision
from tests.certificates import Certificates
from tests.compat.processes import ROOT
from tests.ports import free_port

READY = "READY=1\nSTATUS=Ready to accept connections\n"
WAIT_S = 60


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Ears:
    """systemd's side of the socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(WAIT_S)

    def hear(self) -> str:
        return self.socket.recv(4096).decode()

    def hear_until(self, words: str) -> list[str]:
        """The messages up to the one that has *words* in it."""
        heard = [self.hear()]
        while words not in heard[-1]:
            heard.append(self.hear())
        return heard

    def all(self) -> list[str]:
        """What has been said so far."""
        heard = []
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                heard.append(self.hear())
        self.socket.settimeout(WAIT_S)
        return heard


@pytest.fixture
def config(monkeypatch):
    for variable in (*supervision.VARIABLES.values(), "WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(variable, raising=False)
    return Config()


@pytest.fixture
def ears(config, monkeypatch, tmp_path) -> Iterator[Ears]:
    path = str(tmp_path / "notify")
    heard = Ears(path)
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    config.supervised = "systemd"
    yield heard
    heard.socket.close()


# ---------------------------------------------------------------------- who is told


@pytest.mark.parametrize("supervised", ["systemd", "auto"])
def test_systemd_is_told_when_the_server_is_ready(config, ears, supervised):
    config.supervised = supervised
    Supervision(config).serving()
    assert ears.all() == [READY]
    assert supervision.supervisor(config) == "systemd"


@pytest.mark.parametrize("supervised", ["no", "upstart"])
def test_systemd_is_not_told_unless_configured(config, ears, supervised):
    config.supervised = supervised
    told = Supervision(config)
    told.working("x")
    told.serving()
    told.serves_again("x")
    told.stopping()
    told.tick()
    assert ears.all() == []
    assert not told.reloads


def test_a_socket_of_the_abstract_namespace_begins_with_an_at_sign(config, monkeypatch):
    name = f"penstock-test-{os.getpid()}"
    heard = Ears("\0" + name)
    monkeypatch.setenv("NOTIFY_SOCKET", "@" + name)
    config.supervised = "systemd"
    Supervision(config).serving()
    assert heard.all() == [READY]
    heard.socket.close()


def test_without_systemd_the_log_says_what_is_missing(config, caplog):
    config.supervised = "systemd"
    Supervision(config).serving()
    assert caplog.messages == ["supervised systemd: but NOTIFY_SOCKET is not set"]
    assert supervision.supervisor(config) == "no"


@pytest.mark.parametrize(("supervised", "goes"), [("no", True), ("auto", False)])
def test_a_server_under_systemd_does_not_go_to_the_background(config, ears, supervised, goes):
    config.supervised = supervised
    assert not supervision.in_background(config)
    config.daemonize = True
    assert supervision.in_background(config) is goes


def test_with_both_supervisors_auto_means_upstart(config, ears, monkeypatch):
    """As in Redis, which asks for UPSTART_JOB first."""
    monkeypatch.setenv("UPSTART_JOB", "redis")
    config.supervised = "auto"
    assert supervision.supervisor(config) == "upstart"


def test_a_missing_notify_socket_is_only_logged(config, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    config.supervised = "systemd"
    with caplog.at_level(logging.WARNING):
        Supervision(config).serving()
    assert "No such file or directory" in caplog.text


def test_under_upstart_the_process_stops_itself(config, monkeypatch):
    sent = []
    monkeypatch.setattr(os, "kill", lambda *signal: sent.append(signal))
    monkeypatch.setenv("UPSTART_JOB", "redis")
    config.supervised = "auto"
    Supervision(config).serving()
    assert sent == [(os.getpid(), signal.SIGSTOP)]


# ---------------------------------------------------------------------- what is told


def test_progress_is_told_once_a_second_and_asks_for_time(config, ears):
    clock = Clock()
    told = Supervision(config, clock)
    told.working("Loading the data: 1 %")
    told.working("Loading the data: 2 %")
    clock.now_s += 1
    told.working("Loading the data: 3 %")
    assert ears.all() == [
        f"EXTEND_TIMEOUT_USEC={systemd.EXTENSION_US}\nWATCHDOG=1\nSTATUS=Loading the data: {n} %\n"
        for n in (1, 3)
    ]


def test_after_a_save_in_the_foreground_the_status_is_the_one_before(config, ears):
    told = Supervision(config, Clock())
    told.serving()
    told.working("Saving the data: 1 keys so far")
    ears.all()
    told.tick()
    told.tick()
    assert ears.all() == ["STATUS=Ready to accept connections\n"]


def test_a_status_is_one_line(config, ears):
    Supervision(config).serves_again("Not reloaded: 'x\nREADY=1'")
    assert ears.all() == ["STATUS=Not reloaded: 'x READY=1'\n"]


def test_a_reload_begins_with_the_time_and_ends_with_ready(config, ears):
    told = Supervision(config)
    before = time.monotonic_ns() // 1000
    told.reload(lambda: "")
    told.reload(lambda: "Not reloaded: no file")
    first, ready, _second, failed = ears.all()
    name, began = first.split("\n")[1].split("=")
    assert (first.split("\n")[0], name) == ("RELOADING=1", "MONOTONIC_USEC")
    assert before <= int(began) <= time.monotonic_ns() // 1000
    assert (ready, failed) == (READY, "READY=1\nSTATUS=Not reloaded: no file\n")


@pytest.mark.parametrize(("pid", "beats"), [("", 2), ("own", 2), ("1", 0)])
def test_the_watchdog_hears_of_this_process_three_times_in_its_time(
    config, ears, monkeypatch, pid, beats
):
    monkeypatch.setattr(faulthandler, "enable", lambda: None)
    monkeypatch.setenv("WATCHDOG_USEC", "30000000")
    if pid:
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()) if pid == "own" else pid)
    clock = Clock()
    told = Supervision(config, clock)
    told.tick()
    clock.now_s += 9.9
    told.tick()
    clock.now_s += 0.2
    told.tick()
    assert ears.all() == ["WATCHDOG=1\n"] * beats


def test_a_systemd_that_takes_nothing_does_not_hold_up_the_server(config, ears, monkeypatch):
    """A socket takes a few datagrams only."""
    told = Supervision(config)
    for _ in range(2000):
        told.serves_again("again")
    assert ears.all()


# ---------------------------------------------------------------------- a server under systemd


class Service:
    """A server that systemd has started, as far as it can tell."""

    def __init__(self, ears: Ears, folder: Path, *options: str, **environment: str) -> None:
        self.door = str(folder / "door")
        self.log = folder / "server.log"
        words = [sys.executable, "-m", "server", "--unixsocket", self.door, "--dir", str(folder)]
        words += ["--supervised", "systemd", "--logfile", str(self.log), *options]
        self.process = subprocess.Popen(
            words, cwd=ROOT, env={**os.environ, **environment}, stderr=subprocess.DEVNULL
        )

    def ask(self, line: str) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.door)
            client.sendall(line.encode() + b"\r\n")
            return client.recv(1 << 16)


@pytest.fixture
def start(ears, tmp_path):
    services = []

    def run(*options: str, **environment: str) -> Service:
        services.append(Service(ears, tmp_path, "--port", "0", *options, **environment))
        return services[-1]

    yield run
    for service in services:
        service.process.kill()
        service.process.wait()


def test_a_service_is_ready_when_it_serves_and_stops_when_all_is_safe(ears, start, tmp_path):
    service = start("--save", "3600 1")
    assert ears.hear_until("READY=1")[-1] == READY
    assert service.ask("PING") == b"+PONG\r\n"
    assert service.ask("SET key value") == b"+OK\r\n"
    service.process.terminate()
    saving, stopping = ears.hear_until("STOPPING=1")[-2:]
    assert saving.startswith("EXTEND_TIMEOUT_USEC=")
    assert stopping == "STOPPING=1\nSTATUS=All is safe: the server ends\n"
    assert (tmp_path / "dump.rdb").exists()
    assert service.process.wait(WAIT_S) == 0


def test_a_long_save_at_the_end_asks_for_time_again_and_again(ears, start):
    service = start("--save", "3600 1", "--rdb-key-save-delay", "300")
    ears.hear_until("READY=1")
    body = "for i=1,10000 do redis.call('SET', i, string.rep('x', 1000)) end"
    assert service.ask(f'EVAL "{body}" 0') == b"$-1\r\n"
    ears.all()
    service.process.terminate()
    heard = ears.hear_until("STOPPING=1")
    asked = [words for words in heard if "EXTEND_TIMEOUT_USEC=120000000" in words]
    assert len(asked) > 2
    assert "STATUS=Saving the data: " in asked[-1]
    assert all("WATCHDOG=1" in words for words in asked)


def test_a_stop_that_fails_is_not_announced(ears, start, tmp_path):
    service = start("--save", "3600 1")
    ears.hear_until("READY=1")
    assert service.ask("SET a 1") == b"+OK\r\n"
    (tmp_path / "dump.rdb").mkdir()
    service.process.terminate()
    heard = ears.hear_until("Not stopped")
    assert not [words for words in heard if "STOPPING" in words]
    assert service.ask("GET a") == b"$1\r\n1\r\n"
    (tmp_path / "dump.rdb").rmdir()
    service.process.terminate()
    ears.hear_until("STOPPING=1")


def test_a_server_that_cannot_start_is_never_ready(ears, start, tmp_path):
    (tmp_path / "dump.rdb").write_bytes(b"REDIS0011 and nonsense")
    assert start().process.wait(WAIT_S) == 1
    assert not [words for words in ears.all() if "READY" in words]


def test_the_watchdog_hears_a_server_that_turns_also_while_cron_is_paused(ears, start):
    service = start("--enable-debug-command", "yes", WATCHDOG_USEC="1000000")
    ears.hear_until("READY=1")
    assert service.ask("DEBUG PAUSE-CRON 1") == b"+OK\r\n"
    ears.all()
    assert [ears.hear(), ears.hear()] == ["WATCHDOG=1\n"] * 2


# ---------------------------------------------------------------------- reloads


def test_sighup_reads_the_users_anew(ears, start, tmp_path):
    users = tmp_path / "users.acl"
    users.write_text("user default on nopass ~* +@all\n")
    service = start("--aclfile", str(users))
    ears.hear_until("READY=1")
    users.write_text("user default on nopass ~* +@all\nuser alice on >secret ~* +@all\n")
    service.process.send_signal(signal.SIGHUP)
    assert ears.hear_until("READY=1")[-1] == READY
    assert b"alice" in service.ask("ACL USERS")


def test_a_reload_takes_all_or_nothing(ears, start, tmp_path, certificates: Certificates):
    """The users are whole, the certificate is not: neither is taken, and the status says why."""
    users = tmp_path / "users.acl"
    users.write_text("user default on nopass ~* +@all\n")
    files = {}
    for name, value in certificates.parameters().items():
        path = Path(str(value))
        if path.is_file():
            files[name] = tmp_path / path.name
            files[name].write_bytes(path.read_bytes())
    options = ["--aclfile", str(users), "--tls-port", str(free_port()), "--bind", "127.0.0.1"]
    for name, value in certificates.parameters().items():
        options += [f"--{name.replace('_', '-')}", str(files.get(name, value))]
    service = start(*options)
    ears.hear_until("READY=1")
    certificate = files["tls_cert_file"].read_bytes()
    files["tls_cert_file"].write_text("nonsense")
    users.write_text("user default on nopass ~* +@all\nuser alice on >secret ~* +@all\n")
    service.process.send_signal(signal.SIGHUP)
    assert "STATUS=Not reloaded: Unable to update TLS" in ears.hear_until("READY=1")[-1]
    assert b"alice" not in service.ask("ACL USERS")
    files["tls_cert_file"].write_bytes(certificate)
    users.write_text("user default on nonsense\n")
    service.process.send_signal(signal.SIGHUP)
    assert "STATUS=Not reloaded: " in ears.hear_until("READY=1")[-1]
    assert "Not reloaded: " in service.log.read_text()
    users.write_text("user default on nopass ~* +@all\nuser alice on >secret ~* +@all\n")
    service.process.send_signal(signal.SIGHUP)
    assert ears.hear_until("READY=1")[-1] == READY
    assert b"alice" in service.ask("ACL USERS")
