"""Offsets of a query that shares a consumer group: which entries belong to its batches.

    {"source": {"subscribe": ["orders"], "group": "workers"},
     "member": "spark-3f9a1c2b", "batch": 17,
     "claims": {"orders": {"entries": 20000, "upto": "1763000062499-3",
                           "cuts": [["1763000031000-0", 10000]]},
                "refunds": {"entries": 0}}}

Batch 17 is what is pending for the consumer ``spark-3f9a1c2b-17``: in each stream, *entries* is the
number of entries and *upto* the last id. *cuts* split them into tasks; each has the number of
entries up to it.
The server keeps the pending list, so a replay finds the same entries.

*member* is a random name that never changes. So two queries never use the same consumer, and a
query that was killed finds what it had claimed under its next batch number.

*claims* names all streams whose group the query uses. *source* is what the query reads; a
checkpoint of another source is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read.offsets import check_same_source
from pyspark_penstock.read.positions import Cut


class Place(NamedTuple):
    """A consumer of a group in a stream. Its pending entries are a batch."""

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
    """What a batch holds of one stream."""

    entries: int = 0
    upto: EntryId = FIRST
    cuts: tuple[Cut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint."""
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
    """A batch of a query, and which query it is."""

    source: dict[str, Any]
    member: str
    batch: int
    claims: dict[str, Claim] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint."""
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
        """Raises CheckpointError if the offset is of another source."""
        check_same_source(self.source, source)

    def place(self, stream: str, ahead: int = 0) -> Place:
        """The consumer of the batch in *stream*; or that of a batch *ahead* of it."""
        return Place(stream, self.source["group"], f"{self.member}-{self.batch + ahead}")

    def tasks(self) -> Iterator[ClaimedRange]:
        """The ranges of the tasks of the batch."""
        for stream, claim in self.claims.items():
            if claim.entries:
                marks = [Cut(FIRST, 0), *claim.cuts, Cut(claim.upto, claim.entries)]
                for a, b in pairwise(marks):
                    yield ClaimedRange(self.place(stream), a.id, b.id, (b.n or 0) - (a.n or 0))
