"""How much of the history is on the primary's own disk."""

from __future__ import annotations

from server.parts.propagation.propagation import Durability, Op, Propagation
from server.parts.replication import own_disk
from server.parts.replication.feed import Feed
from server.parts.replication.history import History
from server.parts.replication.own_disk import NEVER, OwnDisk


class File(Durability):
    """An append-only file of ten bytes a command, fsynced when a test says so."""

    def add_all(self, ops: list[Op]) -> None:
        self.offset += 10 * len(ops)


class Primary:
    def __init__(self) -> None:
        self.propagation = Propagation()
        self.feed = Feed(self.propagation, History("a" * 40))
        self.propagation.attach(self.feed)
        self.file = File()
        self.propagation.set_durability(self.file)
        self.disk = OwnDisk(self.propagation, self.feed)

    def write(self) -> int:
        """Write something; where the history ends after it."""
        self.propagation.add(0, [b"SET", b"k", b"v"])
        self.propagation.deliver()
        return self.feed.offset()


def test_it_is_as_far_as_the_fsync_was() -> None:
    primary = Primary()
    first = primary.write()
    assert primary.disk.fsynced() == 0
    primary.write()
    primary.disk.fsynced()
    primary.file.synced_offset = 10
    assert primary.disk.fsynced() == first
    primary.file.synced_offset = 15  # within the second
    assert primary.disk.fsynced() == first
    primary.file.synced_offset = 20
    assert primary.disk.fsynced() == primary.feed.offset()


def test_what_replicas_are_sent_besides_needs_no_disk() -> None:
    primary = Primary()
    primary.write()
    primary.file.synced_offset = 10
    primary.feed.ping()
    assert primary.disk.fsynced() == primary.feed.offset()


def test_of_many_places_the_oldest_are_kept() -> None:
    primary = Primary()
    ends = []
    for _ in range(own_disk.MOST_NOTED + 5):
        ends.append(primary.write())
        primary.disk.fsynced()
    primary.file.synced_offset = 10 * (own_disk.MOST_NOTED - 1)
    assert primary.disk.fsynced() == ends[own_disk.MOST_NOTED - 2]
    primary.file.synced_offset = 10 * (own_disk.MOST_NOTED + 4)  # between those that are known
    assert primary.disk.fsynced() < ends[own_disk.MOST_NOTED + 3]


def test_without_a_file_it_asks_for_nothing_and_another_file_begins_anew() -> None:
    primary = Primary()
    primary.write()
    primary.file.synced_offset = 10
    assert primary.disk.fsynced() == primary.feed.offset()
    primary.propagation.set_durability(None)
    assert primary.disk.fsynced() == NEVER
    file = File()
    file.tentative = True
    primary.propagation.set_durability(file)
    assert primary.disk.fsynced() == 0  # until its base is written
    file.tentative = False
    assert primary.disk.fsynced() == primary.feed.offset()
