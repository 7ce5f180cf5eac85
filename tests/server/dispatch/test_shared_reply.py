"""Readers who wait for the same get one reply, and each what it would have got alone."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.encoder import Encoder
from server.client.client import Client
from server.dispatch.shared_reply import SharedReply
from storage.keyspace.key_events import KeyEvents

WORDS = [b"XREAD", b"BLOCK", b"0", b"STREAMS", b"a", b"1-1"]
NOTHING = "nothing has been answered"

REPLY = b"+what XREAD gave\r\n"


def a_client(db_index: int = 0, resp: int = 2, no_touch: bool = False) -> Client:
    client = Client(1, 0)
    client.db_index, client.out.resp, client.no_touch = db_index, resp, no_touch
    return client


@pytest.fixture
def events() -> KeyEvents:
    return KeyEvents()


@pytest.fixture
def shared(events: KeyEvents) -> SharedReply:
    """What a client of database 0 that speaks RESP2 got: it read two keys, one of them missing."""
    shared = SharedReply(events)
    shared.begin(a_client(), WORDS)
    events.hits += 1
    events.misses += 1
    reply = Encoder(2)
    reply.raw(REPLY)
    shared.keep(reply)
    assert reply.take() == REPLY
    return shared


class TestSharedReply:
    def test_who_asks_the_same_gets_the_same(self, shared: SharedReply) -> None:
        for _ in range(3):
            reply = shared.reply_to(a_client(), list(WORDS))
            assert reply is not None
            assert reply.take() == REPLY  # whoever sends it empties it

    @pytest.mark.parametrize(
        "other", [{"db_index": 1}, {"resp": 3}, {"no_touch": True}], ids=lambda o: next(iter(o))
    )
    def test_who_asks_otherwise_does_not(self, shared: SharedReply, other: Any) -> None:
        assert shared.reply_to(a_client(**other), WORDS) is None

    def test_other_words_have_another_reply(self, shared: SharedReply) -> None:
        assert shared.reply_to(a_client(), [*WORDS[:-1], b"1-2"]) is None

    def test_the_keys_count_as_read_by_each(self, shared: SharedReply, events: KeyEvents) -> None:
        shared.reply_to(a_client(), WORDS)
        shared.reply_to(a_client(), WORDS)
        assert (events.hits, events.misses) == (3, 3)

    def test_nothing_is_shared_before_it_is_known_or_after_it_is_forgotten(
        self, shared: SharedReply
    ) -> None:
        shared.forget()
        assert shared.reply_to(a_client(), WORDS) is None
        shared.begin(a_client(), WORDS)
        assert shared.reply_to(a_client(), WORDS) is None


class TestWokenReaders:
    def test_each_gets_the_entries_behind_its_own_id_in_its_own_protocol(self, house: Any) -> None:
        house.send_line("XADD a 1-1 f 1")
        readers = []
        for resp, start in ((2, "$"), (2, "1-1"), (3, "$"), (3, "2-0"), (3, "1-1"), (2, "2-1")):
            reader = house.client()
            reader.send("HELLO", resp)
            assert reader.send_line(f"XREAD BLOCK 0 STREAMS a {start}") == NOTHING
            readers.append(reader)
        house.send_line("XADD a 2-1 f 2")
        pairs, mapped = [[b"a", [[b"2-1", [b"f", b"2"]]]]], {b"a": [[b"2-1", [b"f", b"2"]]]}
        assert [reader.reply() for reader in readers] == [
            pairs, pairs, mapped, mapped, mapped, NOTHING,
        ]  # fmt: skip

    def test_each_looks_into_its_own_database(self, house: Any) -> None:
        here, there = house.client(), house.client()
        there.send_line("SELECT 1")
        for reader in (here, there):
            reader.send_line("XREAD BLOCK 0 STREAMS a 0")
        house.send_line("MULTI")
        house.send_line("XADD a 1-1 f here")
        house.send_line("SELECT 1")
        house.send_line("XADD a 1-1 f there")
        house.send_line("EXEC")
        assert here.reply() == [[b"a", [[b"1-1", [b"f", b"here"]]]]]
        assert there.reply() == [[b"a", [[b"1-1", [b"f", b"there"]]]]]

    def test_one_that_is_woken_later_sees_what_has_changed_since(self, house: Any) -> None:
        early, late = house.client(), house.client()
        early.send_line("XREAD BLOCK 0 STREAMS a 0")
        house.send_line("XADD a 1-1 f 1")
        house.send_line("DEL a")
        late.send_line("XREAD BLOCK 0 STREAMS a 0")
        house.send_line("XADD a 1-1 f 2")
        assert early.reply() == [[b"a", [[b"1-1", [b"f", b"1"]]]]]
        assert late.reply() == [[b"a", [[b"1-1", [b"f", b"2"]]]]]

    def test_each_counts_as_a_command_and_as_a_read(self, house: Any) -> None:
        readers = [house.client() for _ in range(3)]
        for reader in readers:
            reader.send_line("XREAD BLOCK 0 STREAMS a 0")
        house.send_line("XADD a 1-1 f v")
        assert [reader.client.commands for reader in readers] == [readers[0].client.commands] * 3
        assert house.state.events.hits == 3


class TestDeletedAtTheEnd:
    """The last id of a stream may belong to an entry that is gone."""

    @pytest.fixture(autouse=True)
    def deleted(self, house: Any) -> None:
        for line in ("XADD a 1-1 f 1", "XADD a 2-1 f 2", "XDEL a 2-1", "XADD b 1-1 f 1"):
            house.send_line(line)

    def test_there_is_nothing_behind_the_last_entry_alive(self, house: Any) -> None:
        assert house.send_line("XREAD STREAMS a 1-1") is None
        assert house.send_line("XREAD BLOCK 0 STREAMS a 1-1") == NOTHING

    def test_such_a_stream_is_not_among_those_that_are_answered(self, house: Any) -> None:
        assert house.send_line("XREAD STREAMS a b 1-1 0") == [[b"b", [[b"1-1", [b"f", b"1"]]]]]
