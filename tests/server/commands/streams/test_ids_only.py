"""NOFIELDS of XREAD, XREADGROUP, XRANGE and XREVRANGE: the ids of entries, without their fields."""

from __future__ import annotations

from itertools import permutations

import pytest


@pytest.fixture
def given(server):
    """The stream s has 1-0, 2-0 and 3-0, the last with fields of its own; g has read nothing."""
    for ms in (1, 2):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XADD s 3-0 other 3 more 4")
    server.send_line("XGROUP CREATE s g 0")
    server.logged()
    return server


IDS = [b"1-0", b"2-0", b"3-0"]


class TestRanges:
    @pytest.mark.parametrize("options", ["NOFIELDS", "nofields COUNT 9", "COUNT 9 NoFields"])
    def test_the_reply_is_a_list_of_ids(self, given, options):
        assert given.send_line(f"XRANGE s - + {options}") == IDS
        assert given.send_line(f"XREVRANGE s + - {options}") == IDS[::-1]

    def test_count_and_bounds_hold(self, given):
        assert given.send_line("XRANGE s (1 + COUNT 1 NOFIELDS") == [b"2-0"]
        assert given.send_line("XRANGE s - + COUNT 0 NOFIELDS") is None
        assert given.send_line("XRANGE nokey - + NOFIELDS") == []

    @pytest.mark.parametrize("options", ["COUNT", "NOFIELDS COUNT", "NOFIELDS 1", "WHAT"])
    def test_other_words_are_refused(self, given, options):
        assert given.send_line(f"XRANGE s - + {options}") == "-ERR syntax error"


class TestXread:
    @pytest.mark.parametrize("options", list(permutations(["NOFIELDS", "COUNT 2", "MAXSIZE 999"])))
    def test_each_stream_has_its_ids(self, given, options):
        line = f"XREAD {' '.join(options)} STREAMS s 0"
        assert given.send_line(line) == [[b"s", [b"1-0", b"2-0"]]]

    def test_resp3_clients_get_a_map(self, given):
        given.send_line("HELLO 3")
        assert given.owner.raw(*b"XREAD NOFIELDS COUNT 1 STREAMS s 0".split()) == (
            b"%1\r\n$1\r\ns\r\n*1\r\n$3\r\n1-0\r\n"
        )

    def test_the_size_is_that_of_the_ids(self, given):
        given.send("XADD", "s", "4-0", "f", "x" * 5000)
        given.send_line("XADD s 5-0 f v")
        assert given.send_line("XREAD MAXSIZE 200 NOFIELDS STREAMS s 2") == [
            [b"s", [b"3-0", b"4-0", b"5-0"]]
        ]
        assert given.send_line("XREAD MAXSIZE 40 NOFIELDS STREAMS s 2") == [
            [b"s", [b"3-0", b"4-0"]]
        ]

    def test_a_waiting_reader_gets_ids(self, given):
        waiter, other = given.client(), given.client()
        waiter.send_line("XREAD BLOCK 0 NOFIELDS STREAMS s $")
        other.send_line("XREAD BLOCK 0 STREAMS s $")
        given.send_line("XADD s 4-0 f v")
        assert waiter.reply() == [[b"s", [b"4-0"]]]
        assert other.reply() == [[b"s", [[b"4-0", [b"f", b"v"]]]]]

    def test_plus_is_the_last_id(self, given):
        assert given.send_line("XREAD NOFIELDS STREAMS s +") == [[b"s", [b"3-0"]]]


class TestXreadgroup:
    def test_new_entries_are_delivered_all_the_same(self, given):
        read = "XREADGROUP GROUP g a NOFIELDS STREAMS s >"
        assert given.send_line(read) == [[b"s", IDS]]
        assert given.send_line("XPENDING s g")[0] == 3
        assert given.send_line(read) is None
        plain = [line for line in given.logged() if b"NOFIELDS" in line]
        assert plain == []

    def test_the_history_is_the_ids_of_what_is_pending(self, given):
        given.send_line("XREADGROUP GROUP g a STREAMS s >")
        given.send_line("XDEL s 2-0")
        assert given.send_line("XREADGROUP GROUP g a NOFIELDS STREAMS s 0") == [[b"s", IDS]]
        counts = [row[3] for row in given.send_line("XPENDING s g - + 9")]
        assert counts == [2, 1, 2], "as without NOFIELDS: but for what was deleted"

    def test_claims_tell_deliveries(self, given):
        given.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s >")
        given.advance(70)
        line = "XREADGROUP GROUP g b CLAIM 50 COUNT 2 NOFIELDS STREAMS s >"
        assert given.send_line(line) == [[b"s", [[b"1-0", 70, 1], [b"2-0", 0, 0]]]]

    def test_noack_keeps_nothing(self, given):
        assert given.send_line("XREADGROUP GROUP g a NOACK NOFIELDS STREAMS s >") == [[b"s", IDS]]
        assert given.send_line("XPENDING s g")[0] == 0

    def test_what_comes_again_by_visibility_is_an_id(self, given):
        given.send_line("XGROUP CFGSET s g VISIBILITY 10")
        given.send_line("XREADGROUP GROUP g a STREAMS s >")
        given.advance(10)
        assert given.send_line("XREADGROUP GROUP g b NOFIELDS STREAMS s >") == [[b"s", IDS]]


def test_scripts_and_transactions_get_ids(given):
    script = "return redis.call('XRANGE', KEYS[1], '-', '+', 'NOFIELDS')"
    assert given.send("EVAL", script, 1, "s") == IDS
    given.send_line("MULTI")
    given.send_line("XREAD NOFIELDS COUNT 1 STREAMS s 0")
    assert given.send_line("EXEC") == [[[b"s", [b"1-0"]]]]


def test_the_keys_are_found(server):
    line = "XREADGROUP GROUP g a NOFIELDS STREAMS x y > >"
    assert server.send_line(f"COMMAND GETKEYS {line}") == [b"x", b"y"]


def test_a_node_whose_names_changed_is_no_matter(server):
    for ms in range(1, 300):
        server.send("XADD", "s", f"{ms}-0", *(["a", 1] if ms % 3 else ["b", 2, "c", 3]))
    ids = [f"{ms}-0".encode() for ms in range(1, 300)]
    assert server.send_line("XRANGE s - + NOFIELDS") == ids
    assert server.send_line("XREVRANGE s + - NOFIELDS") == ids[::-1]
