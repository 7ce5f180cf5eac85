"""Offsets of a query that shares a consumer group: which entries its batches hold.

    {"source": {"subscribe": ["orders"], "group": "workers"},
     "member": "spark-3f9a1c2b", "batch": 17,
     "claims": {"orders": {"entries": 20000, "upto": "1763000062499-3",
                           "cuts": [["1763000031000-0", 10000]]},
                "refunds": {"entries": 0}}}

Batch 17 is what is pending for the consumer ``spark-3f9a1c2b-17``: *entries* many in each stream,
the last of them *upto*, cut into tasks at *cuts*, each with the number of entries up to it. The
pending list lives on the server, so a replay finds the same entries.

*member* is drawn when the query first starts, and stays: two queries never have a consumer in
common, and a query finds under its next number what it had claimed when it died.

*claims* names all streams whose group this query relies on. *source* is what it reads; a
checkpoint of another source is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read.offsets import Cut, check_same_source


class Place(NamedTuple):
    """A consumer of a group of a stream: whose pending entries a batch is."""

    stream: str
    group: str
    consumer: str


@dataclass(frozen=True)
class ClaimedRange:
    """What one task reads: the entries in (after, upto] that are pending at *place*."""

    place: Place
    after: EntryId
    upto: EntryId
    entries: int


@dataclass(frozen=True)
class Claim:
    """One stream's part of a batch."""

    entries: int = 0
    upto: EntryId = FIRST
    cuts: tuple[Cut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it stands in the checkpoint."""
        if not self.entries:
            return {"entries": 0}
        cuts = {"cuts": [cut.to_json() for cut in self.cuts]} if self.cuts else {}
        return {"entries": self.entries, "upto": str(self.upto)} | cuts

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Claim:
        """The claim that ``to_json`` wrote. Raises KeyError, TypeError, ValueError."""
        cuts = tuple(Cut.from_json(cut) for cut in value.get("cuts", ()))
        return cls(int(value["entries"]), EntryId.parse(value.get("upto", "0-0")), cuts)


@dataclass(frozen=True)
class SharedOffset:
    """A batch of a query, and what the query is."""

    source: dict[str, Any]
    member: str
    batch: int
    claims: dict[str, Claim] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it stands in the checkpoint."""
        claims = {stream: claim.to_json() for stream, claim in sorted(self.claims.items())}
        about = {"source": self.source, "member": self.member, "batch": self.batch}
        return about | {"claims": claims}

    @classmethod
    def from_json(cls, value: Any) -> SharedOffset:
        """The offset that ``to_json`` wrote. Raises CheckpointError."""
        try:
            claims = {stream: Claim.from_json(claim) for stream, claim in value["claims"].items()}
            return cls(value["source"], value["member"], int(value["batch"]), claims)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise CheckpointError(
                f"not an offset of a query with groupMode=shared: {value!r}; "
                "give this query a checkpoint of its own"
            ) from problem

    def check_source(self, source: dict[str, Any]) -> None:
        """Raises CheckpointError if the checkpoint is of something else than *source*."""
        check_same_source(self.source, source)

    def place(self, stream: str, ahead: int = 0) -> Place:
        """Where the batch is pending in *stream*; or one that comes *ahead* batches later."""
        return Place(stream, self.source["group"], f"{self.member}-{self.batch + ahead}")

    def tasks(self) -> Iterator[ClaimedRange]:
        """What the tasks of the batch read."""
        for stream, claim in self.claims.items():
            if claim.entries:
                marks = [Cut(FIRST, 0), *claim.cuts, Cut(claim.upto, claim.entries)]
                for a, b in pairwise(marks):
                    yield ClaimedRange(self.place(stream), a.id, b.id, (b.n or 0) - (a.n or 0))
