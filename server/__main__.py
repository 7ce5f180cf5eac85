"""Run the server: ``python -m server [redis.conf] [--port 7000 --bind 127.0.0.1 ...]``."""

from __future__ import annotations

import asyncio
import logging
import sys

from server import build
from server.app import serve
from server.command_line import HELP, BadOptions, read_command_line


def main(argv: list[str]) -> int:
    """Serve until stopped; the exit status: 1 for bad options, or no address to listen on."""
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
    logging.basicConfig(
        format="%(process)d %(asctime)s %(levelname)s %(message)s",
        level=LOG_LEVELS[config.loglevel],
        filename=config.logfile or None,
    )
    try:
        runner = asyncio.Runner(loop_factory=_loop_factory(config.event_loop))
        with runner:
            runner.run(serve(config, _announce))
    except OSError as error:
        sys.stderr.write(f"penstock: cannot listen: {error}\n")
        return 1
    return 0


LOG_LEVELS = {
    "debug": logging.DEBUG,
    "verbose": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "nothing": logging.CRITICAL + 1,
}


def _announce(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _loop_factory(name: str):  # type: ignore[no-untyped-def]
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop  # noqa: PLC0415  (only when it is wanted)

    return uvloop.new_event_loop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
