"""testcontainers: what it waits for in a container of Redis, seen from a server without one."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from redis import Redis
from testcontainers.community.redis import PingWaitStrategy
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

LINES = (
    "Ready to accept connections",  # testcontainers for Node, Go and Rust
    re.compile(r".*Ready to accept connections.*\n"),  # and for Java
    re.compile(r"\* Ready to accept connections tcp"),
)


class Container:
    """As a strategy sees a container: a process, its log, and a client."""

    status = "running"

    def __init__(self, port: int, log: Path) -> None:
        self._port = port
        self._log = log

    def get_client(self) -> Redis:
        return Redis(port=self._port)

    def get_logs(self) -> tuple[bytes, bytes]:
        return self._log.read_bytes(), b""

    def get_wrapped_container(self) -> Container:
        return self

    def reload(self) -> None:
        """Nothing is kept of its state."""


def main(port: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("wb") as log:
            server = subprocess.Popen(
                ["redis-server", "--port", str(port), "--save", ""], cwd=folder, stdout=log
            )
        try:
            container = Container(port, path)
            PingWaitStrategy().with_startup_timeout(60).wait_until_ready(container)
            for line in LINES:
                LogMessageWaitStrategy(line).with_startup_timeout(60).wait_until_ready(container)
        finally:
            server.terminate()
            assert server.wait(60) == 0
    print(f"answers PING, and says {LINES[0]!r}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
