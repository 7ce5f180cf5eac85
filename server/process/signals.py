"""Signals: which of them stop the server, and which it ignores.

    SIGINT, SIGTERM   stop it as SHUTDOWN does, with the options of shutdown-on-sigint or -sigterm
    SIGHUP            asks for a reload, if there is a supervisor; else a terminal was closed
    SIGPIPE           is ignored: a peer has gone
    the others        do what they do to any process

Its children take none of these either; see server.parts.persistence.child_job.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Iterator
from typing import NoReturn

from server.config.parameters import Config

IGNORED = (signal.SIGHUP, signal.SIGPIPE)
STOPPING = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger("penstock")


def handle(
    loop: asyncio.AbstractEventLoop,
    config: Config,
    stop: Callable[[signal.Signals, str], None],
    reload: Callable[[], None] | None = None,
) -> None:
    """Have *stop* called with each signal that stops the server, and with its options.

    *reload* is called with SIGHUP, which is ignored without it.
    """
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    loop.add_signal_handler(signal.SIGINT, lambda: stop(signal.SIGINT, config.shutdown_on_sigint))
    loop.add_signal_handler(
        signal.SIGTERM, lambda: stop(signal.SIGTERM, config.shutdown_on_sigterm)
    )
    if reload is not None:
        loop.add_signal_handler(signal.SIGHUP, reload)


def ignore(loop: asyncio.AbstractEventLoop) -> None:
    """The server has stopped: what comes now must not end its process with another status.

    The loop would give each signal its default back when it is closed, and the process lives on
    for a moment.
    """
    for number in STOPPING:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def exit_on_second_sigint() -> Iterator[None]:
    """Within this, while a save is waited for, a second SIGINT ends the process at once."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: exit_now())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def exit_now() -> NoReturn:
    """Raises SystemExit, so that a file which is being written is removed on the way out."""
    _log.warning("You insist... exiting now.")
    raise SystemExit(1)
