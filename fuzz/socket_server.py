"""A server of the fuzzer of sockets: a process, which is watched, disturbed and restarted.

Its log goes through a pipe, so that it comes even when the server may write no files any more.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from random import Random

from fuzz.socket_data import PASSWORD
from fuzz.socket_requests import Requests
from fuzz.socket_visitor import Addresses
from tests.certificates import Certificates
from tests.ports import free_port

ROOT = Path(__file__).parents[1]
COMMAND = ("-m", "server")
START_S = 60.0  # so long may a server need until it answers
STOP_S = 60.0  # and until it has ended; both with sanitizers, on a machine with much else to do
TAIL = 400  # lines of the log that are kept

# What a server that is well never logs. A child that its server ends gets signal 10.
ALARMS = re.compile(
    r"Sanitizer|runtime error:|Traceback|bug in |cannot go on|ServerFault|Fatal Python error"
    r"|terminated by signal (?!10\b)"
)


class Finding(Exception):
    """Something that must never be; says what."""


class FuzzedProcess:
    """One server, with its data in *folder*. *backend* is epoll or asyncio."""

    def __init__(
        self, dice: Random, folder: Path, certificates: Certificates, backend: str
    ) -> None:
        folder.mkdir()
        self.folder = folder
        self.backend = backend
        self.addresses = Addresses(free_port(), free_port(), str(folder / "socket"))
        self.options = [*self._fixed(certificates), *_drawn(dice)]
        self.log: deque[str] = deque(maxlen=TAIL)
        self.is_leaving = False  # has been asked to stop, or was killed by the fuzzer
        self.alarm = ""  # the line of its log that is a finding
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    def _fixed(self, certificates: Certificates) -> list[str]:
        at = self.addresses
        words = (
            f"--port {at.port} --tls-port {at.tls_port} --unixsocket {at.path} --bind 127.0.0.1"
            f" --dir {self.folder} --tls-cert-file {certificates['server.crt']}"
            f" --tls-key-file {certificates['server.key']} --tls-auth-clients no"
            f" --tls-ca-cert-file {certificates['ca.crt']} --masterauth {PASSWORD}"
            " --enable-debug-command yes --max-new-tls-connections-per-cycle 1000"
            " --repl-diskless-sync-delay 0 --shutdown-timeout 1"
        )
        return words.split()

    # ------------------------------------------------------------------ starts and stops

    def start(self) -> None:
        """Start it, and wait until it serves. Raises Finding if it does not."""
        self.is_leaving = False
        self._process = subprocess.Popen(
            [sys.executable, *COMMAND, *self.options],
            cwd=ROOT,
            env={**os.environ, "PENSTOCK_SOCKETS": self.backend},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reader = threading.Thread(target=self._read_log, args=(self._process,), daemon=True)
        self._reader.start()
        end_s = time.monotonic() + START_S
        while time.monotonic() < end_s:
            self.check()
            answer = self._answer_to_ping()
            if answer and not answer.startswith(b"-LOADING"):
                return
            time.sleep(0.02)
        raise Finding("the server does not start")

    def _read_log(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                text = line.decode("utf-8", "replace").rstrip()
                self.log.append(text)
                if not self.alarm and ALARMS.search(text):
                    self.alarm = text

    def _answer_to_ping(self) -> bytes:
        try:
            with socket.create_connection(("127.0.0.1", self.addresses.port), 1) as sock:
                sock.sendall(b"PING\r\n")
                return sock.recv(100)
        except OSError:
            return b""

    def ask(self, requests: Requests) -> None:
        """Have *requests* run, one connection for all, and wait for the end. Raises OSError."""
        with socket.create_connection(("127.0.0.1", self.addresses.port), START_S) as sock:
            for burst in requests.add("ECHO", "all is done").done():
                sock.sendall(burst.data)
            received = b""
            while not received.endswith(b"all is done\r\n"):
                data = sock.recv(1 << 16)
                if not data:
                    raise ConnectionError("the server has closed the connection")
                received = received[-100:] + data

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; after these that end it, check() expects that it ends."""
        if number in (signal.SIGTERM, signal.SIGKILL):
            self.is_leaving = True
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def limit_files(self, size: int) -> None:
        """Let its files grow to *size* bytes; -1: as they like."""
        if self._process is not None and self._process.poll() is None:
            soft = size if size >= 0 else resource.RLIM_INFINITY
            limit = (soft, resource.RLIM_INFINITY)
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, limit)

    def stop(self) -> None:
        """End it, by SIGTERM. Raises Finding if it ends in another way, or not."""
        self.signal(signal.SIGCONT)
        self.limit_files(-1)
        end_s = time.monotonic() + STOP_S
        while not self.has_ended():
            if time.monotonic() > end_s:
                raise Finding("the server does not stop")
            self.signal(signal.SIGTERM)
            time.sleep(0.2)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._wait()

    def since_alarm(self) -> list[str]:
        """The lines of its log from the one that is a finding on."""
        lines = list(self.log)
        return lines[lines.index(self.alarm) :] if self.alarm in lines else []

    # ------------------------------------------------------------------ what must hold

    def has_ended(self) -> bool:
        """Whether it has, as it should. Raises Finding if it has ended in another way."""
        self.check()
        return self._process is None or self._process.poll() is not None

    def check(self) -> None:
        """Raises Finding if its log or its end says that something is wrong."""
        assert self._process is not None
        status = self._process.poll()
        if status is not None:
            self._wait()
        if self.alarm:
            time.sleep(1)  # the rest of the report
            raise Finding(f"the server has logged: {self.alarm}")
        if status and not (status == -signal.SIGKILL and self.is_leaving):
            how = f"signal {-status}" if status < 0 else f"status {status}"
            raise Finding(f"the server has ended by {how}")

    def _wait(self) -> None:
        """Wait for its end, and the end of its log, unless a child of it still holds that."""
        assert self._process is not None
        assert self._reader is not None
        self._process.wait()
        self._reader.join(5)


def _drawn(dice: Random) -> list[str]:
    """Options that differ from round to round."""
    options = f"--appendonly {dice.choice(('yes', 'yes', 'no'))}"
    options += f" --appendfsync {dice.choice(('always', 'always', 'everysec', 'no'))}"
    options += f" --repl-diskless-sync {dice.choice(('yes', 'no'))}"
    options += f" --event-loop {dice.choice(('uvloop', 'uvloop', 'asyncio'))}"
    options += f" --busy-reply-threshold {dice.choice((5000, 100, 1, 60000))}"
    least = dice.choice((0, 50, 5000, 1 << 20))
    options += f" --commandlog-request-larger-than {least} --commandlog-reply-larger-than {least}"
    options += f" --maxmemory-clients {dice.choice((0, 0, '5mb'))}"
    if dice.random() < 0.4:
        options += f" --requirepass {PASSWORD}"
    save = dice.choice(("", "", "1 1000"))
    return [*options.split(), "--save", save]
