"""A container engine: the one that runs here, or one that is started by hand and stopped again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STARTS_WITHIN_S = 60
COMMAND_S = 120

# A process of the engine's publishes ports: the machine's rules for packets stay as they are.
OPTIONS = ("--iptables=false", "--ip-forward=false")


class NoEngine(Exception):
    """There is no engine, and none can be started; the message says why."""


class Engine:
    """Runs ``docker`` commands. *host* is where the engine listens; "" is docker's own choice."""

    def __init__(self, host: str = "") -> None:
        self.environment = dict(os.environ)
        if host:
            self.environment["DOCKER_HOST"] = host

    def run(self, *words: str, timeout_s: float = COMMAND_S) -> subprocess.CompletedProcess[str]:
        """``docker WORDS``, whatever comes of it."""
        return self.call("docker", *words, timeout_s=timeout_s)

    def call(
        self, *words: str, timeout_s: float = COMMAND_S, variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Any command, for which this engine is docker's, with more environment *variables*."""
        return subprocess.run(
            words, cwd=ROOT, env=self.environment | (variables or {}), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=timeout_s,
        )  # fmt: skip

    def do(self, *words: str) -> str:
        """What ``docker WORDS`` prints, which has to succeed."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def inspect(self, name: str) -> dict[str, Any]:
        """What docker knows of a container or an image."""
        found: list[dict[str, Any]] = json.loads(self.do("inspect", name))
        return found[0]

    def stop(self) -> None:
        """Leave the engine as it was found."""


class OwnEngine(Engine):
    """``dockerd``, started with all that it has in a folder of its own. Raises NoEngine."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="penstock-engine-"))  # short: sockets are in it
        self._folder = folder
        self._log = folder / "dockerd.log"
        super().__init__(f"unix://{folder}/docker.sock")
        self._had_bridge = Path("/sys/class/net/docker0").exists()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["dockerd", "--host", self.environment["DOCKER_HOST"], *OPTIONS,
                 *(f"--{name}={folder}/{name}" for name in ("data-root", "exec-root", "pidfile"))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._wait()

    def _wait(self) -> None:
        """Until it answers. Raises NoEngine when it ends, or takes too long."""
        give_up_at = time.monotonic() + STARTS_WITHIN_S
        while not runs(self):
            if self._process.poll() is not None or time.monotonic() > give_up_at:
                lines = self._log.read_text().splitlines()
                self.stop()
                raise NoEngine(f"dockerd does not start: {' '.join(lines[-1:])}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it and its containers; remove what it has made: mounts, files, its network."""
        if self._process.poll() is None:
            for container in self.run("ps", "--quiet", "--all").stdout.split():
                self.run("rm", "--force", "--volumes", container)
            self._process.terminate()
        self._process.wait(COMMAND_S)
        if not self._had_bridge:
            subprocess.run(["ip", "link", "delete", "docker0"], capture_output=True, check=False)
        for mounted in mounts_below(self._folder):
            subprocess.run(["umount", mounted], check=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def mounts_below(folder: Path) -> list[str]:
    """What is mounted there, the inner mounts first: dockerd leaves the network of the host."""
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((path for path in mounts if path.startswith(f"{folder}/")), reverse=True)


def runs(engine: Engine) -> bool:
    """Whether the engine answers."""
    return engine.run("version").returncode == 0


def find_or_start() -> Engine:
    """The engine that runs here, else one of our own. Raises NoEngine."""
    if not shutil.which("docker"):
        raise NoEngine("there is no docker (on Debian: apt-get install docker.io iptables)")
    engine = Engine()
    if runs(engine):
        return engine
    if not shutil.which("dockerd"):
        raise NoEngine("no container engine runs, and there is no dockerd to start")
    if os.geteuid() != 0:
        raise NoEngine("no container engine runs, and only root may start one")
    return OwnEngine()
