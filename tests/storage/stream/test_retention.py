"""The index of what is pending in many groups, made a part at a time."""

from __future__ import annotations

import random

import pytest

from storage.stream import retention
from storage.stream.references import FEW
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

MANY = FEW + 4


def counts(stream: Stream) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for group in stream.groups.values():
        for key, _ in group.pel:
            found[key] = found.get(key, 0) + 1
    return found


def change(stream: Stream, chance: random.Random) -> None:
    """A group is given an entry, or acknowledges one, or goes, or comes."""
    name = b"g%d" % chance.randrange(MANY)
    group = stream.find_group(name)
    if group is None:
        stream.create_group(name, ZERO)
    elif chance.random() < 0.02:
        stream.delete_group(name)
    else:
        entry_id = StreamId(chance.randrange(1, 60), 0)
        if chance.random() < 0.5:
            group.ack(entry_id)
        elif group.find(entry_id) is None:
            consumer = group.find_consumer(b"c") or group.create_consumer(b"c", 0)
            group.deliver(entry_id, consumer, 0)


@pytest.mark.parametrize("seed", range(20))
def test_what_changes_meanwhile_is_counted_once(seed: int) -> None:
    chance = random.Random(seed)
    stream = Stream()
    for number in range(MANY):
        stream.create_group(b"g%d" % number, ZERO)
    for _ in range(300):
        change(stream, chance)
    references = retention.known_references(stream)
    assert references is not None
    steps = 0
    while not retention.count_some(stream, references, 20):
        assert references.ids is None
        for _ in range(chance.randrange(5)):
            change(stream, chance)
        steps += 1
    assert steps > 1
    if references.ids is not None:  # else there are few groups by now
        assert dict(references.ids) == counts(stream)
        for _ in range(100):
            change(stream, chance)
        assert dict(references.ids) == counts(stream)


def test_who_cannot_wait_gets_the_whole_index() -> None:
    stream = Stream()
    for number in range(MANY):
        group = stream.create_group(b"g%d" % number, ZERO)
        consumer = group.create_consumer(b"c", 0)
        for ms in range(1, 50):
            group.deliver(StreamId(ms, 0), consumer, 0)
    references = retention.known_references(stream)
    assert references is not None
    assert not retention.count_some(stream, references, 20)
    assert stream.references() is references
    assert references.ids is not None
    assert dict(references.ids) == counts(stream)
    assert retention.count_some(stream, references, 20)
    assert references.counting is None


def test_without_groups_there_is_nothing_to_count() -> None:
    assert retention.known_references(Stream()) is None
