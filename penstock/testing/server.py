"""PenstockServer: a server in a process of its own, for tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from penstock.testing import clock as clocks
from penstock.testing.control import Word
from penstock.testing.data import data_at
from penstock.testing.errors import ServerError
from penstock.testing.running import Address, RunningServer
from penstock.testing.snapshots import Snapshot

if TYPE_CHECKING:
    import redis
    import redis.asyncio

HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0

SocketKind = Literal["unix", "tcp"]


class PenstockServer:
    """A Penstock of its own: nobody else's data, port, configuration or clock.

    *options* are lines of redis.conf, as ``["maxmemory 100mb", "appendonly yes"]``.

    *data* is what it begins with: a dump.rdb, a folder with an append-only file, or a folder that
    has one of these. It is copied; the original is never changed.

    *clock* is the time at which it begins: a datetime with a zone, or "data" for the time when
    *data* was saved, at which what has expired by now still was there.

    *socket* is what ``url`` leads to: "unix", or "tcp" for a free port of 127.0.0.1.

    start() and stop(), or ``with``, give the server its life. It ends with this process at the
    latest, even if that is killed, and so does its temporary folder. A server that is started again
    has the address that it had, and is as it began. All methods but start(), stop() and reset()
    raise ServerError if it is not running.
    """

    def __init__(
        self,
        *,
        options: Sequence[str] = (),
        data: str | os.PathLike[str] | None = None,
        clock: datetime | Literal["data"] | None = None,
        socket: SocketKind = "unix",
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        if clock == "data" and data is None:
            raise ServerError('clock="data" is the time of data, and there is none')
        if socket not in ("unix", "tcp"):
            raise ServerError(f'socket is "unix" or "tcp", not {socket!r}')
        self._lines = list(options)
        self._data = None if data is None else data_at(Path(data))
        self._clock = self._data.saved_at() if self._data and clock == "data" else clock
        if self._clock is not None:
            clocks.checked_moment(self._clock)
        self._socket: SocketKind = socket
        self._timeout_s = start_timeout_s
        self._life: RunningServer | None = None
        self._address: Address | None = None  # where it ran until it was stopped

    def __enter__(self) -> PenstockServer:
        return self.start()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._address = None

    # ------------------------------------------------------------------ its life

    def start(self) -> PenstockServer:
        """Start it, and wait until its data is loaded.

        Raises StartFailed, with the end of its log.
        """
        if self._life is None:
            begins_at = self._clock if isinstance(self._clock, datetime) else None
            self._life = RunningServer(
                self._lines, self._data, begins_at, self._timeout_s, self._address
            )
            if self._socket == "tcp":
                self._life.open_port()
        return self

    def stop(self) -> None:
        """Kill it, and remove its folder. Without effect if it does not run."""
        life, self._life = self._life, None
        if life is not None:
            self._address = life.address
            life.stop()

    @property
    def _running(self) -> RunningServer:
        if self._life is None:
            raise ServerError("The server is not running: start() it, or use it in a with block")
        return self._life

    # ------------------------------------------------------------------ where it is

    @property
    def url(self) -> str:
        """Where clients find it, with its password if one is required."""
        return self.tcp_url if self._socket == "tcp" else f"unix://{self._login}{self.path}"

    @property
    def tcp_url(self) -> str:
        """Where clients that cannot use a Unix socket find it, by TCP."""
        return f"redis://{self._login}{self.host}:{self.port}"

    @property
    def _login(self) -> str:
        password = self._running.options.password
        return f":{quote(password, safe='')}@" if password else ""

    @property
    def path(self) -> Path:
        """Its Unix socket, which it always has."""
        return self._running.socket_path

    @property
    def host(self) -> str:
        """The address of its TCP port."""
        return HOST

    @property
    def port(self) -> int:
        """Its TCP port: a free one, which is opened when it is first asked for."""
        return self._running.open_port()

    @property
    def log(self) -> str:
        """The end of what it has logged."""
        return self._running.log

    # ------------------------------------------------------------------ clients

    def client(self, **options: Any) -> redis.Redis:
        """A client of redis-py; *options* are those of ``redis.Redis``, as decode_responses."""
        import redis  # noqa: PLC0415  (not everybody has it, or needs it)

        return redis.Redis.from_url(self._url_for(options), **options)

    def async_client(self, **options: Any) -> redis.asyncio.Redis:
        """A client of redis.asyncio: connects in the loop that first uses it; close it there."""
        import redis.asyncio  # noqa: PLC0415

        return redis.asyncio.Redis.from_url(self._url_for(options), **options)

    def _url_for(self, options: dict[str, Any]) -> str:
        """The url, but of TCP for RESP3: redis-py 7 fails with that on a Unix socket."""
        return self.tcp_url if options.get("protocol") in (3, "3") else self.url

    def call(self, *words: Word) -> Any:
        """The reply to a command, in bytes, by the fixture's own connection. Raises ServerError."""
        return self._running.control.call(*words)

    # ------------------------------------------------------------------ from test to test

    def reset(self) -> None:
        """Take it back to how it began: data, clock, parameters, users, functions, scripts.

        Clients that came since then and could disturb, as those that wait for a key, are
        disconnected. A server that was stopped, has ended, or does not answer, is restarted at
        the same address. Costs a fraction of a millisecond if little has changed.
        """
        if self._life is None and self._address is not None:
            self.start()
        else:
            self._running.reset()

    def begin_test(self) -> None:
        """Take the clients that are there as everybody's: reset() leaves them alone."""
        self._running.begin_test()

    def flush(self) -> None:
        """Remove all keys of all databases, and nothing else."""
        self.call("FLUSHALL", "SYNC")

    def snapshot(self) -> Snapshot:
        """Keep all data, for restore(): all databases, consumer groups included, and functions.

        Takes milliseconds, and more for much data. Users, parameters and scripts are not in it.
        """
        return self._running.snapshots.take()

    def restore(self, snapshot: Snapshot) -> None:
        """Take the data, and the clock, back to *snapshot*; it may be used again.

        Raises TypeError if that is none, ServerError if it went with the server that it is of.
        """
        self._running.snapshots.restore(snapshot)

    # ------------------------------------------------------------------ time

    def travel(self, span: timedelta | None = None, /, **parts: float) -> datetime:
        """Move the server's clock, back if the span is negative; the time that it then has.

        ``travel(hours=1)``, ``travel(timedelta(days=1))``; *parts* are those of timedelta. What is
        due by then happens at once: keys expire, waits end. Only the server's clock moves. Raises
        TypeError if there is no span, or two of them.
        """
        return self._move(clocks.moved_by(clocks.span_of(span, parts)))

    def travel_to(self, moment: datetime) -> datetime:
        """Set the server's clock. Raises ValueError for a time without a zone."""
        return self._move(clocks.set_to(clocks.checked_moment(moment)))

    def freeze(self, moment: datetime | None = None) -> datetime:
        """Stop the server's clock, at *moment* if there is one; travel() still moves it."""
        if moment is not None:
            clocks.checked_moment(moment)
        now = self._move(("DEBUG", "CLOCK", "FREEZE"))
        return now if moment is None else self.travel_to(moment)

    def thaw(self) -> datetime:
        """Restart the server's clock from where it stands."""
        return self._move(("DEBUG", "CLOCK", "THAW"))

    def now(self) -> datetime:
        """The time by the server's clock, in UTC."""
        return self._move(("DEBUG", "CLOCK"))

    def _move(self, command: Sequence[Word]) -> datetime:
        return clocks.state_of(self.call(*command)).now
