"""The servers of a test session: one for all tests, and one for each group that wants another.

A server is started when a test first asks for it. It stays, since the next test probably has the
same marker; when there are too many of them, the one goes that was not used for the longest time.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.testing.clock import checked_moment
from penstock.testing.errors import ServerError
from penstock.testing.server import PenstockServer

MOST_SERVERS = 4  # besides the default one; each has some 60 MB

SETTINGS = ("options", "data", "clock", "socket")


class ServerPool:
    """*settings* are the arguments of the default PenstockServer."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._default: PenstockServer | None = None
        self._others: dict[str, PenstockServer] = {}  # the last used is the last

    def default(self) -> PenstockServer:
        """The server for all tests that want no other. Raises StartFailed, ServerError."""
        if self._default is None:
            self._default = _server(self._settings)
        return self._default.start()

    def with_changes(self, changes: dict[str, Any], folder: Path) -> PenstockServer:
        """The server with these arguments in place of the default one's; data is in *folder*.

        Raises StartFailed, ServerError.
        """
        for name in changes:
            if name not in SETTINGS:
                raise ServerError(f"a penstock marker has {', '.join(SETTINGS)}, but no {name!r}")
        settings = {**self._settings, **changes}
        if changes.get("data") is not None:
            settings["data"] = folder / changes["data"]
        key = repr(settings)
        server = (self._others.pop(key, None) or _server(settings)).start()
        self._others[key] = server
        if len(self._others) > MOST_SERVERS:
            self._others.pop(next(iter(self._others))).stop()
        return server

    def stop(self) -> None:
        """Stop all of them."""
        for server in (self._default, *self._others.values()):
            if server is not None:
                server.stop()
        self._default, self._others = None, {}


def _server(settings: dict[str, Any]) -> PenstockServer:
    clock = settings["clock"]
    if isinstance(clock, str) and clock != "data":
        try:
            clock = checked_moment(datetime.fromisoformat(clock))
        except ValueError as error:
            raise ServerError(
                f"the clock is an ISO 8601 time with a zone, or data: {error}"
            ) from None
    return PenstockServer(**{**settings, "clock": clock})
