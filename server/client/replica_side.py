"""A client that has turned out to be a replica: all of it is in server/parts/replication."""

from __future__ import annotations

from typing import Protocol


class ReplicaSide(Protocol):
    """What the server of its socket and its commands needs of it."""

    acked: int  # it has run all up to this offset of the history

    def has_room(self) -> None:
        """Its socket has taken what it was given."""
