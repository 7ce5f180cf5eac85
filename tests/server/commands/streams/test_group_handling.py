"""XACK UPTO, XGROUP DELCONSUMER HANDOVER, XGROUP SETID CLEAR; PRIORITY of XREAD and XREADGROUP."""

from __future__ import annotations

import pytest

from server.commands.streams.groups.group_steps import MOST_IDS


@pytest.fixture
def given(server):
    """The stream s has 1-0 .. 6-0. alice of the group g has 1, 2 and 5, bob has 3, 4 and 6."""
    for ms in range(1, 7):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    for name, count in (("alice", 2), ("bob", 2), ("alice", 1), ("bob", 1)):
        server.send_line(f"XREADGROUP GROUP g {name} COUNT {count} STREAMS s >")
    server.advance(1000)
    server.logged()
    return server


def pending(server):
    """For each ms its consumer, and how often it was delivered."""
    rows = server.send_line("XPENDING s g - + 100")
    return {int(row[0].split(b"-")[0]): (row[1], row[3]) for row in rows}


class TestAckUpto:
    @pytest.mark.parametrize(
        ("words", "left", "logged"),
        [
            ("UPTO 4", [5, 6], b"1-0 2-0 3-0 4-0"),
            ("upto 3-5", [4, 5, 6], b"1-0 2-0 3-0"),
            ("UPTO +", [], b"1-0 2-0 3-0 4-0 5-0 6-0"),
            ("UPTO 5 CONSUMER alice", [3, 4, 6], b"1-0 2-0 5-0"),
            ("UPTO 4 consumer bob", [1, 2, 5, 6], b"3-0 4-0"),
        ],
    )
    def test_all_up_to_an_id_are_acknowledged(self, given, words, left, logged):
        assert given.send_line(f"XACK s g {words}") == 6 - len(left)
        assert list(pending(given)) == left
        assert given.logged() == [b"XACK s g " + logged]

    @pytest.mark.parametrize("words", ["s g UPTO 0-5", "s g UPTO 9 CONSUMER carol", "s h UPTO 9",
                                       "t g UPTO 9"])  # fmt: skip
    def test_there_may_be_none(self, given, words):
        assert given.send_line(f"XACK {words}") == 0
        assert given.logged() == []

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("UPTO", "-ERR syntax error"),
            ("UPTO x", "-ERR Invalid stream ID specified as stream command argument"),
            ("UPTO 4 5", "-ERR syntax error"),
            ("UPTO 4 CONSUMER", "-ERR syntax error"),
            ("UPTO 4 OWNER bob", "-ERR syntax error"),
            ("4 UPTO 5", "-ERR Invalid stream ID specified as stream command argument"),
        ],
    )
    def test_what_is_refused(self, given, words, error):
        assert given.send_line(f"XACK s g {words}") == error
        assert len(pending(given)) == 6
        assert given.logged() == []

    def test_a_long_list_of_ids_is_logged_in_pieces(self, server):
        server.send_line("XGROUP CREATE s g 0 MKSTREAM")
        for ms in range(1, MOST_IDS + 2):
            server.send("XADD", "s", f"{ms}-0", "f", "v")
        server.send_line("XREADGROUP GROUP g a STREAMS s >")
        server.logged()
        assert server.send_line("XACK s g UPTO +") == MOST_IDS + 1
        pieces = [words.split() for words in server.logged() if words.startswith(b"XACK")]
        assert [len(words) - 3 for words in pieces] == [MOST_IDS, 1]


class TestHandover:
    def test_the_group_has_what_the_consumer_had(self, given):
        assert given.send_line("XGROUP DELCONSUMER s g alice HANDOVER") == 3
        assert pending(given) == {
            1: (b"", 0), 2: (b"", 0), 5: (b"", 0), 3: (b"bob", 1), 4: (b"bob", 1), 6: (b"bob", 1),
        }  # fmt: skip
        assert given.logged() == [
            b"XNACK s g FAIL IDS 3 1-0 2-0 5-0 RETRYCOUNT 0 FORCE",
            b"XGROUP DELCONSUMER s g alice",
        ]
        claimed = given.send_line("XREADGROUP GROUP g bob CLAIM 100000 STREAMS s >")
        assert [row[0] for row in claimed[0][1]] == [b"1-0", b"2-0", b"5-0"]

    def test_a_consumer_that_waits_for_claims_is_woken(self, given):
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g bob BLOCK 0 CLAIM 100000 STREAMS s >")
        given.send_line("XGROUP DELCONSUMER s g alice HANDOVER")
        assert [row[0] for row in waiter.reply()[0][1]] == [b"1-0", b"2-0", b"5-0"]

    def test_a_consumer_may_have_nothing_or_not_exist(self, given):
        given.send_line("XGROUP CREATECONSUMER s g idle")
        given.logged()
        assert given.send_line("XGROUP DELCONSUMER s g idle HANDOVER") == 0
        assert given.logged() == [b"XGROUP DELCONSUMER s g idle"]
        assert given.send_line("XGROUP DELCONSUMER s g carol HANDOVER") == 0
        assert given.logged() == []

    @pytest.mark.parametrize("words", ["x", "HANDOVER HANDOVER", "HANDOVER x"])
    def test_other_words_are_too_many(self, given, words):
        assert given.send_line(f"XGROUP DELCONSUMER s g alice {words}") == (
            "-ERR wrong number of arguments for 'xgroup|delconsumer' command"
        )

    def test_without_the_word_the_entries_are_lost(self, given):
        assert given.send_line("XGROUP DELCONSUMER s g alice") == 3
        assert list(pending(given)) == [3, 4, 6]


class TestClear:
    def test_nothing_is_pending_when_the_group_begins_anew(self, given):
        assert given.send_line("XGROUP SETID s g 0 CLEAR") == b"OK"
        assert pending(given) == {}
        assert given.logged() == [
            b"XACK s g 1-0 2-0 3-0 4-0 5-0 6-0",
            b"XGROUP SETID s g 0",
        ]
        again = given.send_line("XREADGROUP GROUP g alice STREAMS s >")
        assert len(again[0][1]) == 6

    def test_it_goes_with_entriesread(self, given):
        assert given.send_line("XGROUP SETID s g 3 clear ENTRIESREAD 3") == b"OK"
        assert given.logged()[-1] == b"XGROUP SETID s g 3 ENTRIESREAD 3"

    def test_a_stream_and_a_group_may_be_called_clear(self, given):
        given.send_line("XGROUP CREATE clear CLEAR $ MKSTREAM")
        given.logged()
        assert given.send_line("XGROUP SETID clear CLEAR 0 CLEAR ENTRIESREAD 0") == b"OK"
        assert given.logged() == [b"XGROUP SETID clear CLEAR 0 ENTRIESREAD 0"]

    def test_xgroup_create_does_not_know_it(self, given):
        assert given.send_line("XGROUP CREATE s h 0 CLEAR").startswith("-ERR unknown subcommand")


class TestPriority:
    def test_only_the_first_stream_that_has_something_is_read(self, server):
        for name in ("high", "low"):
            server.send_line(f"XGROUP CREATE {name} g 0 MKSTREAM")
        server.send_line("XADD low 1-0 f v")
        read = "XREADGROUP GROUP g a COUNT 1 PRIORITY STREAMS high low > >"
        assert server.send_line(read)[0][0] == b"low"
        server.send_line("XADD low 2-0 f v")
        server.send_line("XADD high 1-0 f v")
        server.send_line("XADD high 2-0 f v")
        first, second, third = (server.send_line(read) for _ in range(3))
        assert [[row[0], len(row[1])] for row in (*first, *second, *third)] == [
            [b"high", 1], [b"high", 1], [b"low", 1],
        ]  # fmt: skip
        assert server.send_line("XPENDING low g")[0] == 2

    def test_xread_knows_it_too(self, server):
        server.send_line("XADD a 1-0 f v")
        server.send_line("XADD b 1-0 f v")
        assert [row[0] for row in server.send_line("XREAD PRIORITY STREAMS a b 0 0")] == [b"a"]
        assert [row[0] for row in server.send_line("XREAD PRIORITY STREAMS a b 1 0")] == [b"b"]
        assert len(server.send_line("XREAD STREAMS a b 0 0")) == 2

    def test_a_waiting_reader_gets_what_comes_first(self, server):
        waiter = server.client()
        waiter.send_line("XREAD BLOCK 0 PRIORITY STREAMS a b $ $")
        server.send_line("XADD b 1-0 f v")
        assert [row[0] for row in waiter.reply()] == [b"b"]

    def test_the_keys_are_found(self, server):
        line = "XREADGROUP GROUP g a PRIORITY STREAMS x y > >"
        assert server.send_line(f"COMMAND GETKEYS {line}") == [b"x", b"y"]
