"""Let browsers loose on the console of a real server, all at once, while others disturb them.

``python -m fuzz.browsers -max_total_time=60`` does so for a minute, one seed after the other;
``-seed=7`` draws that round again: the same choices, whenever what comes of them arrives.

Browsers log in and out, run any commands of the table, watch things, read or do not, break off in
the middle of a request. Meanwhile a client kills them, changes and removes their users, moves
limits, pauses all, flushes. A finding is

- a request that is not answered, an answer of status 500, or one that is no JSON;
- as many replies as there were commands, but more or fewer;
- a server that ends, or logs a fault, or does not stop: see fuzz/socket_server.py.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import shlex
import socket
import sys
import threading
import time
import traceback
from base64 import b64encode
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import server.commands  # noqa: F401  (fills the table)
from fuzz.command_words import CommandWords
from fuzz.findings import finding_path
from fuzz.socket_crowd import RESETTING
from fuzz.socket_data import PASSWORD
from fuzz.socket_requests import Requests
from fuzz.socket_server import Finding, FuzzedProcess
from server.table.command import TABLE
from tests.certificates import Certificates
from tests.ports import free_port

BROWSERS = 6
ROUND_S = 20.0
ANSWERED_WITHIN_S = 20.0

# What would end the server, its console, or everybody's rights, or take long.
LEFT_OUT = (
    "shutdown", "debug", "client|pause", "replicaof", "slaveof", "failover", "config", "acl",
    "psync", "migrate", "bgrewriteaof",
)  # fmt: skip

# What else happens: drawn every tenth of a second.
DISTURBANCES = (
    "ACL DELUSER ann bob", "ACL DELUSER ann",
    *(
        f"ACL SETUSER {user} on >{PASSWORD} resetkeys {rights}"
        for user in ("ann", "bob")
        for rights in ("~* +@all", "~* +@read", "~s* +@read", "-@all")
    ),
    "CLIENT KILL TYPE normal SKIPME yes", "CLIENT KILL USER ann", "FLUSHALL",
    "CONFIG SET maxclients 30", "CONFIG SET maxclients 10000",
    "CONFIG SET client-output-buffer-limit 'normal 100000 0 0'",
    "CONFIG SET maxmemory-clients 500000", "CONFIG SET maxmemory-clients 0",
    "CLIENT PAUSE 100 ALL", "CLIENT PAUSE 100 WRITE", "CONFIG SET console no",
    "CONFIG SET console yes", "CONFIG SET console yes", "CLIENT TRACKING ON BCAST",
)  # fmt: skip


class ConsoleServer(FuzzedProcess):
    """A server with a console at *metrics_port*."""

    def _fixed(self, certificates: Certificates) -> list[str]:
        self.metrics_port = free_port()
        options = super()._fixed(certificates)
        return [*options, "--metrics-port", str(self.metrics_port), "--console", "yes"]


class Browser:
    """One browser, which does what *dice* say until *ends_s*."""

    def __init__(self, dice: Random, port: int, ends_s: float, totals: Counter[str]) -> None:
        self._dice = dice
        self._port = port
        self._ends_s = ends_s
        self._totals = totals
        self._words = CommandWords(dice)
        self._headers: dict[str, str] = {}
        self._live: list[tuple[str, socket.socket]] = []
        self.finding = ""

    def run(self) -> None:
        """Go on until the end, or a finding."""
        while time.monotonic() < self._ends_s and not self.finding:
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                try:
                    self._act()
                except TimeoutError:
                    self.finding = "a request is not answered"
                except Finding as finding:
                    self.finding = str(finding)
                except (AssertionError, LookupError, TypeError):
                    self.finding = traceback.format_exc()
        for _, sock in self._live:
            sock.close()

    def _act(self) -> None:
        if "cookie" not in self._headers:
            self._log_in()
            return
        act = self._dice.choices(
            [self._run_commands, self._listen, self._watch, self._read, self._log_out,
             self._break_off, self._ask_nonsense, self._forget],
            [20, 6, 8, 4, 1, 1, 1, 1],
        )[0]  # fmt: skip
        act()

    # ------------------------------------------------------------------ requests

    def _ask(self, method: str, path: str, what: Any = None) -> tuple[int, Any]:
        """One request. Returns its status, and the JSON of its answer. Raises Finding."""
        connection = http.client.HTTPConnection("localhost", self._port, ANSWERED_WITHIN_S)
        headers = {"content-type": "application/json", **self._headers}
        body = what if isinstance(what, bytes) or what is None else json.dumps(what)
        try:
            connection.request(method, f"/console/{path}", body, headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        self._totals["requests"] += 1
        self._note(answer, path)
        is_json = (answer.getheader("content-type") or "").startswith("application/json")
        try:
            return answer.status, json.loads(data) if is_json and data else None
        except ValueError:
            raise Finding(f"no JSON: {data[:200]!r}") from None

    def _note(self, answer: http.client.HTTPResponse, path: str) -> None:
        cookie = answer.getheader("set-cookie")
        if answer.status == 200 and cookie:
            self._headers["cookie"] = cookie.partition(";")[0]
        if answer.status == 401:
            self._headers.clear()
        if answer.status == 500:
            raise Finding(f"{path} was answered with status 500")

    def _log_in(self) -> None:
        if self._dice.random() < 0.5:
            status, session = self._ask("GET", "api/session")
        else:
            name = self._dice.choice(("ann", "bob", "default", "nobody"))
            password = self._dice.choice((PASSWORD, PASSWORD, "wrong"))
            who = {"username": name, "password": password}
            status, session = self._ask("POST", "api/login", who)
        if status == 200:
            self._headers["x-csrf-token"] = session["csrf"]
            self._totals["sessions"] += 1
        else:
            time.sleep(0.05)

    def _log_out(self) -> None:
        self._ask("POST", "api/logout", {})
        self._headers.clear()

    def _forget(self) -> None:
        """The cookie is lost."""
        self._headers.clear()

    def _run_commands(self) -> None:
        argvs = [self._argv() for _ in range(self._dice.choice((0, 1, 3, 30, 300)))]
        asked = {"db": self._dice.choice((0, 0, 0, 1, 99)), "commands": argvs,
                 "transaction": self._dice.random() < 0.2}  # fmt: skip
        status, answer = self._ask("POST", "api/commands", asked)
        if status == 200 and answer is not None and len(answer["replies"]) != len(argvs):
            raise Finding(f"{len(answer['replies'])} replies to {len(argvs)} commands: {argvs}")
        self._totals["commands"] += len(argvs)

    def _argv(self) -> list[Any]:
        while True:
            argv = self._words.draw()
            name = b"|".join(argv[:2]).lower().decode("latin-1")
            if not name.startswith(LEFT_OUT):
                return [_word(word) for word in argv]

    def _watch(self) -> None:
        if not self._live:
            return
        dice = self._dice
        names = range(dice.choice((0, 1, 5)))
        watches = [{"name": str(n), "commands": [self._argv(), self._argv()]} for n in names]
        self._ask("POST", "api/watch", {
            "live": dice.choice(self._live)[0], "every_ms": 100, "paused": dice.random() < 0.2,
            "db": dice.choice((0, 0, 1)), "watches": watches,
            "streams": dice.choice((None, {"match": "*"}, {"match": "s*"})),
        })  # fmt: skip

    def _ask_nonsense(self) -> None:
        path = self._dice.choice(("", "api/session", "api/x", "api/commands", "../x", "%00"))
        body = self._dice.choice((b"", b"{}", b"{", b"\xff", b"[" * 10_000))
        self._ask(self._dice.choice(("GET", "POST", "HEAD", "PUT")), path, body)

    # ------------------------------------------------------------------ live streams

    def _open(self, request: str, **more: str) -> socket.socket:
        """Send the head of a request, with *more* headers."""
        sock = socket.create_connection(("localhost", self._port), ANSWERED_WITHIN_S)
        headers = {"host": f"localhost:{self._port}", **self._headers, **more}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        sock.sendall(f"{request} HTTP/1.1\r\n{lines}\r\n".encode())
        return sock

    def _listen(self) -> None:
        sock = self._open("GET /console/api/live")
        data = b""
        while b"\r\n\r\n" not in data or (b" 200 " in data[:20] and b'"}' not in data):
            received = sock.recv(4096)
            if not received:
                break
            data += received
        live = data.partition(b'{"live":"')[2].partition(b'"')[0].decode()
        if live:
            self._live.append((live, sock))
            self._totals["live"] += 1
        else:
            sock.close()

    def _read(self) -> None:
        """Read what a live stream has, or not, and leave it."""
        if not self._live:
            return
        _, sock = self._live.pop(self._dice.randrange(len(self._live)))
        sock.settimeout(0.2)
        if self._dice.random() < 0.5:
            with contextlib.suppress(OSError):
                for _ in range(20):
                    sock.recv(65536)
        self._leave(sock)

    def _break_off(self) -> None:
        """Leave in the middle of a request, or before its answer."""
        body = json.dumps({"commands": [self._argv() for _ in range(100)]}).encode()
        cut = self._dice.randrange(len(body) + 1)
        length = {"content-type": "application/json", "content-length": str(len(body))}
        sock = self._open("POST /console/api/commands", **length)
        with contextlib.suppress(OSError):
            sock.sendall(body[:cut])
        self._leave(sock)

    def _leave(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self._dice.random() < 0.5:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETTING)
        sock.close()


def _word(word: bytes) -> str | dict[str, str]:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(word).decode()}


def play(dice: Random, folder: Path, certificates: Certificates, totals: Counter[str]) -> None:
    """One round. Raises Finding."""
    server = ConsoleServer(dice, folder, certificates, dice.choice(("epoll", "asyncio")))
    try:
        server.start()
        ends_s = time.monotonic() + ROUND_S
        seeds = [Random(dice.random()) for _ in range(BROWSERS)]
        browsers = [Browser(seed, server.metrics_port, ends_s, totals) for seed in seeds]
        threads = [threading.Thread(target=browser.run) for browser in browsers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            server.check()
            with contextlib.suppress(OSError):
                words = shlex.split(dice.choice(DISTURBANCES))
                server.ask(Requests().add("AUTH", PASSWORD).add(*words))
            time.sleep(0.1)
        for browser in browsers:
            if browser.finding:
                raise Finding(browser.finding)
        server.stop()
    except Finding as finding:
        raise Finding("\n".join([str(finding), *server.since_alarm()])) from None
    finally:
        server.kill()


def main(options: list[str]) -> int:
    """Run rounds until the time is over, or something is found."""
    values = dict(option.lstrip("-").split("=", 1) for option in options)
    seed = int(values.get("seed", time.time_ns() // 1000))
    ends_s = time.monotonic() + int(values.get("max_total_time", 60))
    totals: Counter[str] = Counter()
    TABLE.complete()
    with TemporaryDirectory(prefix="browsers-", ignore_cleanup_errors=True) as name:
        certificates = Certificates(Path(name))
        while totals["rounds"] == 0 or time.monotonic() < ends_s:
            try:
                play(Random(seed), Path(name, str(seed)), certificates, totals)
            except Finding as finding:
                path = finding_path(values, f"browsers-{seed}.txt")
                path.write_text(f"{finding}\n", encoding="utf-8")
                print(f"found by -seed={seed}: {finding}")
                return 1
            totals["rounds"] += 1
            seed += 1
            print(dict(totals), flush=True)
    print("nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
