"""A real server with its console, in a process of its own, for tests with a browser."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import redis

from tests.compat.processes import ROOT, penstock_command
from tests.polling import until
from tests.ports import free_port


class ConsoleServer:
    """A server with `console yes`. start() and kill() may be called again: its ports stay."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port, self.web_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.web_port}/console/"
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        # Any: redis-py's answers are unions of all that they might be
        self.redis: Any = redis.Redis(port=self.port, decode_responses=True)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = [
            *penstock_command(),
            *("--port", str(self.port), "--bind", "127.0.0.1", "--save", ""),
            *("--dir", str(self._folder), "--metrics-port", str(self.web_port)),
            *("--metrics-bind", "127.0.0.1", "--console", "yes", "--enable-debug-command", "yes"),
            *self._options,
        ]
        with (self._folder / f"server-{self.port}.log").open("ab") as log:
            self._process = subprocess.Popen(
                words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        until(self.answers, "an answer of the server")

    def answers(self) -> bool:
        try:
            return bool(self.redis.ping())
        except redis.exceptions.AuthenticationError:
            return True

    def kill(self) -> None:
        """End it at once; its data are lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.redis.connection_pool.disconnect()

    def close(self) -> None:
        self.kill()
        self.redis.close()
