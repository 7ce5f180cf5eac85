"""Keeps a board up to date: asks again and again, and says what is the matter when it cannot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import redis

from penstock.top.board import Board
from penstock.top.facts import Facts, read_facts
from penstock.top.penstock_source import PenstockSource
from penstock.top.redis_source import RedisSource
from penstock.top.server import LOST, Address, Server, is_denied, reason
from penstock.top.source import Source

PENSTOCK_ONLY = ("XINFO", "STREAMS", "0", "COUNT", 1)


@dataclass(slots=True)
class Figures:
    """What there is to show, besides the board."""

    facts: Facts | None = None
    problem: str = ""  # why nothing new comes; empty: it does
    looks: int = 0  # complete ones


class Feed:
    """One server's figures, asked for by look()."""

    def __init__(self, address: Address, db: int, match: str = "*") -> None:
        self.address = address
        self.match = match
        self.board = Board()
        self.figures = Figures()
        self.server = Server(address, db)
        self._source: Source | None = None
        self._denied_info: str = ""

    @property
    def db(self) -> int:
        return self.server.db

    @property
    def has_all(self) -> bool:
        """Whether the figures of all streams have been got since the start."""
        return self._source is not None and self._source.has_all

    @property
    def denials(self) -> list[str]:
        """What the user may not do, as far as this was found out: each once."""
        said = dict(self._source.denials.said) if self._source else {}
        if self._denied_info:
            said["INFO"] = self._denied_info
        return list(said.values())

    async def look(
        self, wanted: Collection[bytes] = (), now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Bring everything up to date, as far as the server lets us.

        Raises LOST and redis.RedisError; what was known stays.
        """
        await self._ask_facts()
        if self._source is None:
            self._source = await self._choose_source()
        async for look in self._source.look(wanted):
            at_s = now_s()
            for stream in look.streams:
                self.board.take(stream, at_s)
            self.board.forget(look.gone)
            if look.all_keys is not None:
                self.board.keep_only(look.all_keys)
            await asyncio.sleep(0)  # a key that was pressed counts now
        self.figures.problem = ""
        self.figures.looks += 1

    async def try_to_look(self, wanted: Collection[bytes] = ()) -> bool:
        """look(), or say in figures.problem why not; whether it was done."""
        try:
            await self.look(wanted)
        except LOST as error:
            is_there = isinstance(error, redis.BusyLoadingError)
            self.figures.problem = reason(error) if is_there else f"no server: {reason(error)}"
            self._source = None  # another server may come back
        except redis.RedisError as error:
            self.figures.problem = reason(error)
            self._source = None
        return not self.figures.problem

    async def change_db(self, db: int) -> None:
        """Look at another database from now on."""
        await self.server.close()
        self.server = Server(self.address, db)
        self.board.clear()
        self.figures.looks = 0
        self._source = None

    async def close(self) -> None:
        await self.server.close()

    async def _ask_facts(self) -> None:
        try:
            self.figures.facts = read_facts(await self.server.call("INFO"))
        except redis.ResponseError as error:
            if not is_denied(error):
                raise
            self._denied_info = reason(error)

    async def _choose_source(self) -> Source:
        """By what the server understands: INFO may be forbidden, and says less than a try."""
        try:
            await self.server.call(*PENSTOCK_ONLY)
        except redis.ResponseError:
            return RedisSource(self.server, self.match)
        return PenstockSource(self.server, self.match)
