"""Run the server: ``python -m server [redis.conf] [--port 7000 --bind 127.0.0.1 ...]``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from server import build, process
from server.app import serve
from server.command_line import HELP, BadOptions, read_command_line
from server.persistence.snapshot_loader import LoadFailed


def main(argv: list[str]) -> int:
    """Serve until stopped; the exit status: 1 for bad options, no address, or a fault."""
    if argv[:1] in (["--help"], ["-h"]):
        sys.stdout.write(HELP)
        return 0
    if argv[:1] in (["--version"], ["-v"]):
        sys.stdout.write(f"Penstock server v={build.VERSION} redis={build.REDIS_VERSION}\n")
        return 0
    try:
        config = read_command_line(argv)
    except BadOptions as error:
        sys.stderr.write(f"penstock: {error}\n")
        return 1
    try:
        process.prepare(config)
        with asyncio.Runner(loop_factory=_loop_factory(config.event_loop)) as runner:
            return runner.run(serve(config, _announce))
    except (OSError, LoadFailed) as error:
        sys.stderr.write(f"penstock: {error}\n")
        return 1


def _announce(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop  # noqa: PLC0415  (only when it is wanted)

    make_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make_loop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
