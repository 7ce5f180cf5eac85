"""Clients that are blocked in the same XREAD share one reply: each gets what it would get alone."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.encoder import Encoder
from server.client.client import Client
from server.parts.waiting.shared_reply import SharedReply
from storage.keyspace.key_events import KeyEvents
from tests.server.conftest import NOTHING

WORDS = [b"XREAD", b"BLOCK", b"0", b"STREAMS", b"a", b"1-1"]
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
    """The reply to a RESP2 client of database 0, which read two keys. One of them was missing."""
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
    def test_the_same_command_gets_the_same_reply(self, shared: SharedReply) -> None:
        for _ in range(3):
            reply = shared.reply_to(a_client(), list(WORDS))
            assert reply is not None
            assert reply.take() == REPLY  # sending a reply empties its encoder

    @pytest.mark.parametrize(
        "other", [{"db_index": 1}, {"resp": 3}, {"no_touch": True}], ids=lambda o: next(iter(o))
    )
    def test_another_database_protocol_or_no_touch_gets_no_shared_reply(
        self, shared: SharedReply, other: Any
    ) -> None:
        assert shared.reply_to(a_client(**other), WORDS) is None

    def test_other_arguments_get_no_shared_reply(self, shared: SharedReply) -> None:
        assert shared.reply_to(a_client(), [*WORDS[:-1], b"1-2"]) is None

    def test_each_shared_reply_counts_hits_and_misses(
        self, shared: SharedReply, events: KeyEvents
    ) -> None:
        shared.reply_to(a_client(), WORDS)
        shared.reply_to(a_client(), WORDS)
        assert (events.hits, events.misses) == (3, 3)

    def test_nothing_is_shared_before_keep_or_after_forget(self, shared: SharedReply) -> None:
        shared.forget()
        assert shared.reply_to(a_client(), WORDS) is None
        shared.begin(a_client(), WORDS)
        assert shared.reply_to(a_client(), WORDS) is None


class TestWokenReaders:
    def test_each_gets_the_entries_after_its_own_id_in_its_own_protocol(self, server: Any) -> None:
        server.send_line("XADD a 1-1 f 1")
        readers = []
        for resp, start in ((2, "$"), (2, "1-1"), (3, "$"), (3, "2-0"), (3, "1-1"), (2, "2-1")):
            reader = server.client()
            reader.send("HELLO", resp)
            assert reader.send_line(f"XREAD BLOCK 0 STREAMS a {start}") == NOTHING
            readers.append(reader)
        server.send_line("XADD a 2-1 f 2")
        pairs, mapped = [[b"a", [[b"2-1", [b"f", b"2"]]]]], {b"a": [[b"2-1", [b"f", b"2"]]]}
        assert [reader.reply() for reader in readers] == [
            pairs, pairs, mapped, mapped, mapped, NOTHING,
        ]  # fmt: skip

    def test_each_reads_its_own_database(self, server: Any) -> None:
        here, there = server.client(), server.client()
        there.send_line("SELECT 1")
        for reader in (here, there):
            reader.send_line("XREAD BLOCK 0 STREAMS a 0")
        server.send_line("MULTI")
        server.send_line("XADD a 1-1 f here")
        server.send_line("SELECT 1")
        server.send_line("XADD a 1-1 f there")
        server.send_line("EXEC")
        assert here.reply() == [[b"a", [[b"1-1", [b"f", b"here"]]]]]
        assert there.reply() == [[b"a", [[b"1-1", [b"f", b"there"]]]]]

    def test_a_reader_that_is_woken_later_sees_later_changes(self, server: Any) -> None:
        early, late = server.client(), server.client()
        early.send_line("XREAD BLOCK 0 STREAMS a 0")
        server.send_line("XADD a 1-1 f 1")
        server.send_line("DEL a")
        late.send_line("XREAD BLOCK 0 STREAMS a 0")
        server.send_line("XADD a 1-1 f 2")
        assert early.reply() == [[b"a", [[b"1-1", [b"f", b"1"]]]]]
        assert late.reply() == [[b"a", [[b"1-1", [b"f", b"2"]]]]]

    def test_each_counts_as_a_command_and_as_a_read(self, server: Any) -> None:
        readers = [server.client() for _ in range(3)]
        for reader in readers:
            reader.send_line("XREAD BLOCK 0 STREAMS a 0")
        server.send_line("XADD a 1-1 f v")
        assert [reader.client.commands for reader in readers] == [readers[0].client.commands] * 3
        assert server.state.events.hits == 3


class TestDeletedAtTheEnd:
    """The last id of a stream may belong to a deleted entry."""

    @pytest.fixture(autouse=True)
    def deleted(self, server: Any) -> None:
        for line in ("XADD a 1-1 f 1", "XADD a 2-1 f 2", "XDEL a 2-1", "XADD b 1-1 f 1"):
            server.send_line(line)

    def test_nothing_follows_the_last_entry_that_was_not_deleted(self, server: Any) -> None:
        assert server.send_line("XREAD STREAMS a 1-1") is None
        assert server.send_line("XREAD BLOCK 0 STREAMS a 1-1") == NOTHING

    def test_a_stream_without_newer_entries_is_left_out_of_the_reply(self, server: Any) -> None:
        assert server.send_line("XREAD STREAMS a b 1-1 0") == [[b"b", [[b"1-1", [b"f", b"1"]]]]]
