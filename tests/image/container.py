"""A container of the image, for a test."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.image.engine import Engine

WITHIN_S = 60.0
SELDOM = "--health-interval=1h"  # tests run the health check themselves


class Container:
    """One that runs, or has ended, in *engine*."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self.name = name

    def run(self, *words: str, user: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in it, whatever comes of that."""
        options = ["--user", user] if user else []
        return self.engine.run("exec", *options, self.name, *words)

    def cli(self, *words: str) -> str:
        """What redis-cli prints in it."""
        return self.run("redis-cli", *words).stdout.strip()

    def until_ready(self, *options: str) -> Container:
        """Wait for a PONG; *options* are redis-cli's."""
        until(lambda: self.cli(*options, "ping") == "PONG", self.log)
        return self

    def until_ended(self) -> int:
        """Its exit status."""
        return int(self.engine.do("wait", self.name))

    def until_healthy(self) -> None:
        until(lambda: self.health() is None, self.log)

    def health(self) -> str | None:
        """What its health check says is wrong; None if it is healthy."""
        words = self.engine.inspect(self.name)["Config"]["Healthcheck"]["Test"][1:]
        checked = self.run(*words)
        assert checked.returncode in (0, 1), checked.stderr
        return checked.stderr.strip() if checked.returncode else None

    def log(self) -> str:
        """All that it has printed."""
        printed = self.engine.run("logs", self.name)
        return printed.stdout + printed.stderr

    def user(self) -> int:
        """The user id of its first process."""
        return int(self.read("/proc/1/status").partition("\nUid:")[2].split()[0])

    def read(self, path: str) -> str:
        """A file of it."""
        return self.run("cat", path).stdout

    def stop(self, within_s: int = 10) -> dict[str, Any]:
        """``docker stop``; what is known of it afterwards: ExitCode and others."""
        self.engine.do("stop", "--time", str(within_s), self.name)
        state: dict[str, Any] = self.engine.inspect(self.name)["State"]
        return state


class Runner:
    """Runs containers of *image*. Without *network* they have none but their own loopback."""

    def __init__(self, engine: Engine, image: str) -> None:
        self.engine = engine
        self.image = image

    @contextmanager
    def __call__(
        self, *words: str, options: tuple[str, ...] = (), network: str = "none"
    ) -> Iterator[Container]:
        """A container that runs *words*; *options* are those of ``docker run``."""
        name = self.engine.do(
            "run", "--detach", SELDOM, "--network", network, *options, self.image, *words
        )
        try:
            yield Container(self.engine, name)
        finally:
            self.engine.do("rm", "--force", "--volumes", name)

    def output(
        self, *words: str, options: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run *words* in a container to their end."""
        return self.engine.run("run", "--rm", "--network", "none", *options, self.image, *words)


def until(holds: Callable[[], bool], explain: Callable[[], str]) -> None:
    """Wait until *holds* does, and fail with what *explain* says if that takes too long."""
    give_up_at = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < give_up_at, explain()
        time.sleep(0.05)
