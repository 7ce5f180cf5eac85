"""The producers of a stream, and the ids that are known of them."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.stream import producers as stream_producers
from storage.stream.producers import Limits, Producers, content_of
from storage.stream.stream_id import StreamId
from tests.used_memory import used_at_start


def known(producers: Producers) -> dict[bytes, list[bytes]]:
    return {name: [text for text, _ in ids] for name, ids in producers.sorted_producers()}


def made(*names: bytes, seconds: int = 10, ids: int = 3) -> Producers:
    """Producers of which ``p`` has added *names*, one each ms from 1000 on."""
    producers = Producers(Limits(seconds, ids))
    for number, name in enumerate(names):
        producers.record(b"p", name, StreamId(1000 + number, 0))
    return producers


def test_an_entry_is_found_by_its_producer_and_its_name() -> None:
    producers = made(b"a", b"b")
    assert producers.find(b"p", b"a", 2000) == StreamId(1000, 0)
    assert producers.find(b"p", b"c", 2000) is None
    assert producers.find(b"q", b"a", 2000) is None
    assert (producers.count(), producers.tracked, producers.added) == (1, 2, 2)


def test_the_oldest_is_forgotten_for_one_too_many() -> None:
    producers = made(*(b"%d" % number for number in range(100)))
    assert known(producers) == {b"p": [b"97", b"98", b"99"]}
    assert (producers.tracked, producers.added) == (3, 100)


def test_an_id_is_unknown_when_the_seconds_are_over() -> None:
    producers = made(b"a", seconds=10)
    assert producers.find(b"p", b"a", 10_999) is not None
    assert producers.find(b"p", b"a", 11_000) is None
    assert producers.knows(b"p", b"a")


def test_one_that_comes_again_after_that_is_the_newest() -> None:
    producers = made(b"a", b"b", b"c")
    producers.record(b"p", b"b", StreamId(20_000, 0))
    assert known(producers) == {b"p": [b"a", b"c", b"b"]}
    producers.record(b"p", b"d", StreamId(20_001, 0))
    assert known(producers) == {b"p": [b"c", b"b", b"d"]}
    assert producers.find(b"p", b"b", 20_002) == StreamId(20_000, 0)


def test_expiring_forgets_what_is_too_old_and_producers_without_ids() -> None:
    producers = made(b"a", b"b")
    producers.record(b"q", b"a", StreamId(1001, 5))
    producers.expire(11_000)
    assert known(producers) == {b"p": [b"b"], b"q": [b"a"]}
    producers.expire(11_001)
    assert (known(producers), producers.tracked, producers.added) == ({}, 0, 3)


def test_a_change_of_the_limits_forgets_all_ids() -> None:
    producers = made(b"a")
    assert not producers.set_limits(10, 3)
    assert known(producers) == {b"p": [b"a"]}
    assert producers.set_limits(10, 4)
    assert (known(producers), producers.tracked, producers.added) == ({}, 0, 1)


def test_what_is_due_is_found_without_anyone_who_asks_for_the_stream() -> None:
    late, early = made(b"a", seconds=20), made(b"a", b"b", seconds=10)
    stream_producers.expire_due(12_000)
    assert (late.tracked, early.tracked) == (1, 0)
    stream_producers.expire_due(22_000)
    assert late.tracked == 0


def test_a_shorter_time_is_looked_after_in_time() -> None:
    producers = made(b"a", seconds=86_400)
    producers.set_limits(1, 3)
    producers.record(b"p", b"a", StreamId(5000, 0))
    stream_producers.expire_due(7000)
    assert producers.tracked == 0


def test_an_id_of_the_far_future_and_one_of_the_past_are_due_some_day() -> None:
    producers = Producers(Limits())
    producers.record(b"p", b"a", StreamId(2**64 - 1, 0))
    producers.record(b"p", b"b", StreamId(0, 1))
    stream_producers.expire_due(2_000_000_000_000)
    assert known(producers) == {b"p": [b"a", b"b"]}  # the oldest is the one that came first
    assert producers.find(b"p", b"b", 2_000_000_000_000) is None


def test_a_copy_is_independent() -> None:
    producers = made(b"a")
    producers.duplicates = 4
    copy = producers.copy()
    copy.record(b"p", b"b", StreamId(2000, 0))
    assert known(producers) == {b"p": [b"a"]}
    assert known(copy) == {b"p": [b"a", b"b"]}
    assert (copy.added, copy.duplicates, copy.seconds, copy.ids) == (2, 4, 10, 3)


def test_their_memory_is_counted_and_given_back() -> None:
    before, was_in_use = used_at_start(), stream_producers.in_use()
    producers = made(*(b"%d" % number for number in range(50)), ids=20)
    assert allocation.used_bytes() > before
    assert stream_producers.in_use()
    del producers
    assert allocation.used_bytes() == before
    assert stream_producers.in_use() == was_in_use


@pytest.mark.parametrize(
    ("words", "digest"),
    [
        ("f v", "6e95729ee727f0814aedffba55730079"),
        ("v f", "9dea9c4b4f7bd3778060f37f406cb53f"),
        ("a b c d", "65320e3f13a71f52e0616326fab89970"),
        ("c d a b", "65320e3f13a71f52e0616326fab89970"),
        ("f v f v", "9a79073b2d2a35cba229f103f1b26a64"),
        ("f v f v f v", "c41f7adbb20da5d4e8c7eebe442695dd"),
        ("ab c", "16a40e6f34744cb4db57cd2b7d195a72"),
        ("a bc", "cd716045a670276ba36d448ef5da2ace"),
    ],
)
def test_the_content_of_an_entry_gives_it_the_id_that_redis_gives_it(
    words: str, digest: str
) -> None:
    fields = [b"XADD", *words.encode().split()]
    assert content_of(fields, 1).hex() == digest
