"""A redis-server with an append-only file, and a reader of that file."""

from __future__ import annotations

from pathlib import Path

from tests.compat import resp
from tests.compat.processes import ServerProcess, redis_tool
from tests.propagation.cases import Op


class LogFile:
    """A reader of a growing append-only file."""

    def __init__(self, folder: Path) -> None:
        (path,) = folder.glob("appendonlydir/*.incr.aof")
        self._file = path.open("rb")
        self._db = 0

    def close(self) -> None:
        self._file.close()

    def units(self) -> list[list[Op]]:
        """The commands logged since the last call; those of one transaction form one list."""
        units: list[list[Op]] = []
        inside = False
        while (argv := self._next()) is not None:
            name = argv[0].upper()
            if name == b"SELECT":
                self._db = int(argv[1])
            elif name in (b"MULTI", b"EXEC"):
                inside = name == b"MULTI"
                units += [[]] if inside else []
            elif inside:
                units[-1].append((self._db, argv))
            else:
                units.append([(self._db, argv)])
        return units

    def _next(self) -> list[bytes] | None:
        reply = resp.read(self._file)
        if reply == resp.CLOSED:
            return None
        assert isinstance(reply[1], list), reply
        return [word for _, word in reply[1] if isinstance(word, bytes)]


class LoggingRedis:
    """A redis-server that logs every command, and its log."""

    def __init__(self, folder: Path) -> None:
        options = ["--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no"]
        self.server = ServerProcess([redis_tool("redis-server")], folder, *options)
        self.log = LogFile(folder)

    def stop(self) -> None:
        self.log.close()
        self.server.stop()
