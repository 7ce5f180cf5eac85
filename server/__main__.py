"""Run the server: ``python -m server [redis.conf] [--port 7000 --bind 127.0.0.1 ...]``."""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # what is imported stays: to look for garbage in it was a tenth of the start

from storage import compiled_code

if not hasattr(compiled_code, "__pyx_capi__"):
    from server.process.uncompiled import stay_uncompiled

    stay_uncompiled()

import asyncio
import sys
from collections.abc import Callable

from server.app import ignore_ready, serve
from server.config.command_line import HELP, BadOptions, read_command_line
from server.config.parameters import Config
from server.parts.access.configured_users import BadUsers
from server.parts.persistence.files import reason
from server.parts.persistence.snapshot_loader import LoadFailed
from server.process import build, identity, log, process
from server.process.daemon import daemonize
from server.process.supervision import in_background


def main(argv: list[str], program: str = "python -m server") -> int:
    """Serve until stopped; the exit status: 1 for bad options, a start that fails, or a fault.

    *program* is what the user has called, for the usage text, and for the name in the server log.
    """
    identity.go_by(program)
    process.open_standard_streams()
    if argv[:1] in (["--help"], ["-h"]):
        sys.stdout.write(HELP.format(program=program))
        return 0
    if argv[:1] in (["--version"], ["-v"]):
        sys.stdout.write(build.version_line() + "\n")
        return 0
    try:
        return _run(read_command_line(argv))
    except BadOptions as error:
        log.print_error(f"*** FATAL CONFIG FILE ERROR ({identity.title()} {build.VERSION}) ***")
        log.print_error(str(error))
        return 1
    except LoadFailed as error:
        log.log_and_print(str(error))
        log.log_and_print("Fatal error loading the DB, check server logs. Exiting.")
        return 1
    except BadUsers as error:
        log.log_and_print(str(error))
        return 1
    except OSError as error:
        log.log_and_print(reason(error))
        return 1


def _run(config: Config) -> int:
    """Serve as *config* says; the exit status.

    Raises OSError, LoadFailed and BadUsers when the start fails.
    """
    process.enter_directory(config)
    log.start(config)
    ready = daemonize().ready if in_background(config) else ignore_ready
    log.log_startup(config)
    process.prepare(config)
    process.write_no_bytecode()
    with asyncio.Runner(loop_factory=_loop_factory(config.event_loop)) as runner:
        return runner.run(serve(config, ready))


def _loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop  # noqa: PLC0415  (only when it is wanted)

    make_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make_loop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
