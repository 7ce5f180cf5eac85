"""What watches a server while it is measured: a scrape of its metrics a second, an open console.

The browser of the console is a live stream of server-sent events that shows the streams and the
memory, as the page does; what comes is read and thrown away. It is a process of its own, since a
thread would hold up a generator that is written in Python.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import socket
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Self

SCRAPE_SECONDS = 1.0
CONSOLE_MS = 1000  # how often the console looks for changes
ANSWERED_WITHIN_S = 10.0
LOOK_S = 0.01  # between two questions whether it has looked
STARTED_WITHIN_S = 60.0
PIECE = 65_536  # bytes


class Watched(NamedTuple):
    """How much has been seen: scrapes, and bytes that were sent to the console."""

    scrapes: int
    events_bytes: int


class WatchingProcess:
    """A process with a Watcher of the server with that metrics port, until it is left as a context.

    Raises RuntimeError if there is nothing to watch.
    """

    def __init__(self, port: int) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._asks, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_obey, args=(port, theirs), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        if not self._asks.poll(STARTED_WITHIN_S) or self._asks.recv() is not None:
            self._process.terminate()
            raise RuntimeError("the server cannot be watched")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()

    def rest(self) -> None:
        """Pause, until *watch*."""
        self._ask("rest")

    def watch(self) -> None:
        """Go on after *rest*, with a scrape at once."""
        self._ask("watch")

    def look(self) -> None:
        """Have it scraped once while it rests; return when that is done."""
        before = self.seen().scrapes
        self.watch()
        while self.seen().scrapes == before:
            time.sleep(LOOK_S)
        self.rest()

    def seen(self) -> Watched:
        """How much it was."""
        found: Watched = self._ask("seen")
        return found

    def _ask(self, what: str) -> Any:
        self._asks.send(what)
        return self._asks.recv()


def _obey(port: int, asked: Connection) -> None:
    """What the process does."""
    with Watcher(port) as watcher:
        asked.send(None)
        while True:
            asked.send(getattr(watcher, asked.recv())())


class Watcher:
    """Watches the server with that metrics port, on threads, until it is left as a context.

    While it rests there is no scrape, and the console is paused. Raises OSError if the server does
    not answer; RuntimeError if the console is refused.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_over = threading.Event()
        self._again = threading.Event()  # a scrape is wanted now
        self._rests = False
        self._headers: dict[str, str] = {}
        self._name = ""  # of the live stream
        self._live = self._listen()
        self._show(paused=False)
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._scrape, self._read)
        ]
        self.scrapes = 0
        self.events_bytes = 0

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._again.set()
        with suppress(OSError):
            self._live.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._live.close()

    def rest(self) -> None:
        """Pause, until *watch*."""
        self._rests = True
        self._show(paused=True)

    def watch(self) -> None:
        """Go on after *rest*, with a scrape at once."""
        self._show(paused=False)
        self._rests = False
        self._again.set()

    def seen(self) -> Watched:
        """How much it was."""
        return Watched(self.scrapes, self.events_bytes)

    # ------------------------------------------------------------------ metrics

    def _scrape(self) -> None:
        """Scrape as Prometheus does: on one connection, which is made again if it fails."""
        connection = self._connection()
        while not self._is_over.is_set():
            self._again.wait(SCRAPE_SECONDS)
            self._again.clear()
            if self._rests:
                continue
            try:
                connection.request("GET", "/metrics")
                connection.getresponse().read()
                self.scrapes += 1
            except (OSError, http.client.HTTPException):  # the server may be at its end
                connection.close()
        connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("localhost", self._port, ANSWERED_WITHIN_S)

    def _ask(self, method: str, path: str, what: Any = None) -> bytes:
        connection = self._connection()
        try:
            headers = {"content-type": "application/json", **self._headers}
            body = None if what is None else json.dumps(what)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            cookie = answer.getheader("set-cookie")
            if cookie:
                self._headers["cookie"] = cookie.partition(";")[0]
            data = answer.read()
            if answer.status >= http.HTTPStatus.BAD_REQUEST:
                raise RuntimeError(f"{path} was answered by {answer.status}: {data[:200]!r}")
            return data
        finally:
            connection.close()

    # ------------------------------------------------------------------ the console

    def _listen(self) -> socket.socket:
        """A live stream of a new session."""
        session = json.loads(self._ask("GET", "/console/api/session"))
        self._headers["x-csrf-token"] = session["csrf"]
        live = socket.create_connection(("localhost", self._port), ANSWERED_WITHIN_S)
        lines = {"host": f"localhost:{self._port}", **self._headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        live.sendall(f"GET /console/api/live HTTP/1.1\r\n{head}\r\n".encode())
        data = b""
        while b'"}' not in data:
            piece = live.recv(PIECE)
            if not piece:
                raise RuntimeError(f"no live stream: {data[:200]!r}")
            data += piece
        self._name = data.partition(b'{"live":"')[2].partition(b'"')[0].decode()
        live.settimeout(None)
        return live

    def _show(self, *, paused: bool) -> None:
        """Say what the live stream shows."""
        memory = {"name": "memory", "commands": [["MEMORY", "STATS"], ["INFO", "types"]]}
        self._ask("POST", "/console/api/watch", {
            "live": self._name, "every_ms": CONSOLE_MS, "paused": paused, "db": 0,
            "watches": [memory], "streams": {"match": "*"},
        })  # fmt: skip

    def _read(self) -> None:
        with suppress(OSError):
            while piece := self._live.recv(PIECE):
                self.events_bytes += len(piece)
