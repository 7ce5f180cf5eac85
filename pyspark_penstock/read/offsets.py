"""Offsets: how far a query has read, as JSON in its checkpoint.

    {"source": {"subscribe": ["orders"]}, "query": "3f9a1c2b",
     "streams": {"orders": {"id": "1763000062499-3", "n": 250000,
                            "from": ["1763000000000-0", 1],
                            "cuts": [["1763000031000-0", 125000]]}}}

*id* is the last entry of the batch. *n* is how many entries had ever been added up to it: two *n*
differ by an exact count, and ``entries-added`` minus *n* is the exact lag.

*from* is where the batch begins. Spark keeps only the end of each batch. To replay the first batch
it asks for the initial offset again, and ``latest`` is elsewhere by then.

*cuts* split the batch into tasks. Each has the *n* at that id, or null if it is not known. They are
kept so that a replay has the same tasks, whatever the options or machines are by then.

*source* is what the query reads; a checkpoint of another source is refused. *query* is a random id
that distinguishes the query from others of the same source. It never changes.

Of more than LEGIBLE streams the positions are one text (``compact``), and so many names in *source*
their number and a digest. Of several servers there are the streams of each:

    {"source": {...}, "query": "3f9a1c2b", "servers": {"a:6379": {"streams": {...}},
                                                       "b:6379": {"packed": "0DvG4..."}}}

*fill* is how many entries a task reads of several streams together. An offset without it is of a
version that made a task of each range, and a replay makes the same tasks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read.compact import pack, unpack
from pyspark_penstock.read.positions import Position

LEGIBLE = 100  # streams: as JSON, more of them take more than 10 kB of each batch's checkpoint
ONLY = ""  # the name of a server that stands alone

Streams = dict[str, Position]


@dataclass(frozen=True)
class Offset:
    """How far all streams of one server have been read. *source* is what the query reads."""

    source: dict[str, Any]
    streams: Streams = field(default_factory=dict)
    query: str = ""

    @property
    def is_start(self) -> bool:
        """Whether this is an initial offset, at which no batch ends.

        It may not be in the checkpoint yet.
        """
        return all(position.begin is None for position in self.streams.values())

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint."""
        return {"source": self.source, "query": self.query} | to_json(self.streams)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Offset:
        """The offset that ``to_json`` wrote. Raises CheckpointError."""
        if not isinstance(value.get("source"), dict):
            raise refusal(value)
        return cls(brief(value["source"]), from_json(value), str(value.get("query", "")))

    def check_source(self, source: dict[str, Any]) -> None:
        """Raises CheckpointError if the offset is of another source."""
        check_same_source(self.source, source)


@dataclass(frozen=True)
class FleetOffset:
    """How far the streams of all servers have been read; a server that stands alone is ONLY.

    *fill* is how many entries a task has that reads several streams.
    """

    source: dict[str, Any]
    query: str
    servers: dict[str, Streams] = field(default_factory=dict)
    fill: int = 0

    def part(self, server: str) -> Offset:
        """How far the streams of one server have been read."""
        return Offset(self.source, self.servers.get(server, {}), self.query)

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint: that of ``Offset`` if there is only one server."""
        about = {"fill": self.fill} if self.fill else {}
        if self.servers.keys() == {ONLY}:
            return self.part(ONLY).to_json() | about
        servers = {name: to_json(streams) for name, streams in sorted(self.servers.items())}
        return {"source": self.source, "query": self.query, "servers": servers} | about

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> FleetOffset:
        """The offset that ``to_json`` wrote. Raises CheckpointError."""
        fill = value.get("fill", 0)
        if not isinstance(fill, int):
            raise refusal(value)
        if "servers" not in value:
            only = Offset.from_json(value)
            return cls(only.source, only.query, {ONLY: only.streams}, fill)
        if not (isinstance(value.get("source"), dict) and isinstance(value["servers"], dict)):
            raise refusal(value)
        servers = {name: from_json(part) for name, part in value["servers"].items()}
        return cls(brief(value["source"]), str(value.get("query", "")), servers, fill)

    def check(self, source: dict[str, Any], *, single: bool) -> None:
        """Raises CheckpointError if the offset is of another source, or of another kind of it."""
        check_same_source(self.source, source)
        if single != (self.servers.keys() == {ONLY}):
            known = "one server" if single else "several servers"
            raise CheckpointError(
                f"this query reads {known}, and the checkpoint is not of such a query: "
                "with 'servers' streams are known by server and name; give it a new checkpoint"
            )


def to_json(streams: Streams) -> dict[str, Any]:
    """The positions of a server's streams, in the form for their number."""
    if len(streams) > LEGIBLE:
        try:
            return {"packed": pack(streams)}
        except OverflowError:  # a count that no server can have
            pass
    return {"streams": {name: position.to_json() for name, position in sorted(streams.items())}}


def from_json(value: Mapping[str, Any]) -> Streams:
    """What ``to_json`` wrote. Raises CheckpointError."""
    if isinstance(value, dict) and isinstance(value.get("packed"), str):
        try:
            return unpack(value["packed"])
        except ValueError as problem:
            raise CheckpointError(f"not an offset of this source: {problem}") from None
    if not isinstance(value, dict) or not isinstance(value.get("streams"), dict):
        raise refusal(value)
    return {name: Position.from_json(p) for name, p in value["streams"].items()}


def refusal(value: object) -> CheckpointError:
    """The error for something that is no offset."""
    return CheckpointError(f"not an offset of this source: {str(value)[:500]}")


def brief(source: dict[str, Any]) -> dict[str, Any]:
    """What a query reads; instead of more than LEGIBLE names, their number and a digest."""
    names = source.get("subscribe")
    if not isinstance(names, list) or len(names) <= LEGIBLE:
        return source
    digest = hashlib.sha256(json.dumps(sorted(names)).encode()).hexdigest()
    return source | {"subscribe": {"streams": len(names), "sha256": digest}}


def check_same_source(checkpoint: dict[str, Any], source: dict[str, Any]) -> None:
    """Raises CheckpointError if the checkpoint is of another source."""
    if brief(checkpoint) != brief(source):
        raise CheckpointError(
            f"the checkpoint is of a query that reads {brief(checkpoint)}, this one reads "
            f"{brief(source)}; give this query a checkpoint of its own"
        )
