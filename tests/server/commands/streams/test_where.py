"""WHERE of XREAD and XREADGROUP: the entries that have one of some values in a field."""

from __future__ import annotations

from itertools import permutations

import pytest

from server.commands.streams.reading import group_serving, stream_request
from storage import allocation
from tests.server.conftest import NOTHING
from tests.used_memory import used_at_start

ORDERS = "WHERE type 1 order"
GROUP = "XREADGROUP GROUP g a {} STREAMS s >"


@pytest.fixture
def given(server):
    """The stream s has 1-0 .. 6-0: orders are 1, 3 and 6, a refund is 4; g has read nothing."""
    for ms, kind in enumerate(("order", "mail", "order", "refund", "mail", "order"), 1):
        server.send("XADD", "s", f"{ms}-0", "type", kind, "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.logged()
    return server


def found(reply):
    """The ms of the ids of the entries in a reply of one stream."""
    return [] if reply is None else [int(row[0].split(b"-")[0]) for row in reply[0][1]]


def group(server, name=b"g"):
    """last-delivered-id, entries-read, lag and pending of a group of s."""
    for row in server.send_line("XINFO GROUPS s"):
        fields = dict(zip(row[::2], row[1::2], strict=True))
        if fields[b"name"] == name:
            words = (b"last-delivered-id", b"entries-read", b"lag", b"pending")
            return tuple(fields[word] for word in words)
    raise AssertionError(name)


class TestXread:
    def test_whole_entries_are_answered(self, given):
        assert given.send_line(f"XREAD COUNT 1 {ORDERS} STREAMS s 1") == [
            [b"s", [[b"3-0", [b"type", b"order", b"n", b"3"]]]]
        ]

    @pytest.mark.parametrize(
        ("words", "wanted"),
        [
            ("type 1 order", [1, 3, 6]),
            ("type 2 refund order", [1, 3, 4, 6]),
            ("type 1 ORDER", []),
            ("type 1 orde", []),
            ("Type 1 order", []),
            ("n 2 4 5", [4, 5]),
            ("n 1 04", []),
            ("other 1 order", []),
            ("type 20 " + " ".join(map(str, range(19))) + " mail", [2, 5]),
            ("n 20 " + " ".join(map(str, range(5, 25))), [5, 6]),
        ],
    )
    def test_a_value_is_the_same_bytes(self, given, words, wanted):
        assert found(given.send_line(f"XREAD WHERE {words} STREAMS s 0")) == wanted

    @pytest.mark.parametrize(
        "options", list(permutations([ORDERS, "COUNT 2", "NOFIELDS", "PRIORITY", "MAXSIZE 999"]))
    )
    def test_options_stand_in_any_order(self, given, options):
        line = f"XREAD {' '.join(options)} STREAMS s 0"
        assert given.send_line(line) == [[b"s", [b"1-0", b"3-0"]]]

    def test_count_counts_what_is_found(self, given):
        assert found(given.send_line(f"XREAD COUNT 2 {ORDERS} STREAMS s 0")) == [1, 3]
        assert found(given.send_line(f"XREAD MAXCOUNT 1 {ORDERS} STREAMS s 1")) == [3]

    def test_a_stream_without_any_is_left_out(self, given):
        given.send_line("XADD t 1-0 type order")
        reply = given.send_line("XREAD WHERE type 1 mail STREAMS s t 0 0")
        assert [row[0] for row in reply] == [b"s"]

    def test_a_value_may_be_a_word_of_the_command(self, given):
        given.send_line("XADD t 1-0 COUNT STREAMS")
        line = "XREAD WHERE COUNT 2 BLOCK STREAMS STREAMS t 0"
        assert found(given.send_line(line)) == [1]
        assert given.send_line(f"COMMAND GETKEYS {line}") == [b"t"]
        line = "XREADGROUP GROUP g a WHERE GROUP 2 STREAMS x COUNT 1 STREAMS y z > >"
        assert given.send_line(f"COMMAND GETKEYS {line}") == [b"y", b"z"]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("WHERE type STREAMS s 0", "numvalues must be a positive integer"),
            ("WHERE type 0 STREAMS s 0", "numvalues must be a positive integer"),
            ("WHERE type -1 STREAMS s 0", "numvalues must be a positive integer"),
            ("WHERE type x STREAMS s 0", "numvalues must be a positive integer"),
            ("WHERE type 9 order STREAMS s 0", "syntax error"),
            ("WHERE type 9223372036854775807 order STREAMS s 0", "syntax error"),
            ("WHERE type 1 order WHERE n 1 1 STREAMS s 0", "syntax error"),
            ("WHERE type 4 order STREAMS s 0", "syntax error"),
            ("STREAMS s WHERE n 0", "Invalid stream ID specified as stream command argument"),
        ],
    )
    def test_what_is_no_condition_is_refused(self, given, words, error):
        assert given.send_line(f"XREAD {words}") == f"-ERR {error}"
        if "STREAMS s 0" in words:
            given.send_line(f"COMMAND GETKEYS XREAD {words}")  # whatever it finds

    def test_plus_is_the_last_entry_if_it_is_one(self, given):
        assert found(given.send_line(f"XREAD {ORDERS} STREAMS s +")) == [6]
        assert given.send_line("XREAD WHERE type 1 mail STREAMS s +") is None

    def test_an_entry_may_have_a_field_twice(self, server):
        server.send_line("XADD s 1-0 t a t b u c")
        server.send_line("XADD s 2-0 t x t a u c")
        server.send_line("XADD s 3-0 u a")
        server.send_line("XADD s 4-0 u t t a")
        server.send_line("XADD s 5-0 12 7")
        assert found(server.send_line("XREAD WHERE t 1 b STREAMS s 0")) == [1]
        assert found(server.send_line("XREAD WHERE t 1 a STREAMS s 0")) == [1, 2, 4]
        assert found(server.send_line("XREAD WHERE 12 1 7 STREAMS s 0")) == [5]
        assert found(server.send_line("XREAD WHERE 012 1 7 STREAMS s 0")) == []


class TestWaitingXread:
    def test_it_waits_until_one_comes(self, given):
        waiter = given.client()
        assert waiter.send_line(f"XREAD BLOCK 0 {ORDERS} STREAMS s $") == NOTHING
        given.send_line("XADD s 7-0 type mail")
        given.send_line("XADD s 8-0 type mail")
        assert waiter.reply() == NOTHING
        given.send_line("XADD s 9-0 type order")
        assert found(waiter.reply()) == [9]

    def test_it_does_not_look_again_at_what_it_has_passed(self, given):
        waiter = given.client()
        waiter.send_line(f"XREAD BLOCK 0 {ORDERS} STREAMS s t 6-0 $")
        given.send_line("XADD s 7-0 type mail")
        given.send_line("XADD t 8-0 type mail")
        assert waiter.client.waiter.argv[-2:] == [b"6-0", b"0-0"]
        passed = waiter.client.waiter.block.resume.look
        assert [entry_id.encode() for entry_id in passed.values()] == [b"7-0", b"8-0"]

    @pytest.mark.parametrize("after", ["0", "$"])
    def test_it_sees_a_stream_that_was_made_again_with_smaller_ids(self, server, after):
        server.send_line("XADD t 90-0 type mail")
        waiter = server.client()
        waiter.send_line(f"XREAD BLOCK 0 {ORDERS} STREAMS s t {after} 0")
        server.send_line("XADD s 7-0 type mail")
        server.send_line("XADD s 8-0 type mail")
        server.send_line("DEL s")
        server.send_line("XADD s 1-0 type order")
        assert found(waiter.reply()) == [1]

    def test_it_sees_a_stream_that_took_the_place_of_another(self, server):
        server.send_line("XADD s 8-0 type mail")
        server.send_line("XADD t 3-0 type order")
        waiter = server.client()
        waiter.send_line(f"XREAD BLOCK 0 {ORDERS} STREAMS s 2-0")
        server.send_line("COPY t s REPLACE")
        assert found(waiter.reply()) == [3]

    def test_what_it_had_passed_does_not_change_what_plus_means(self, server):
        waiter = server.client()
        waiter.send_line(f"XREAD BLOCK 0 {ORDERS} STREAMS s +")
        server.send_line("XADD s 1-0 type mail")
        server.send_line("MULTI")
        server.send_line("XADD s 2-0 type order")
        server.send_line("XADD s 3-0 type order")
        server.send_line("EXEC")
        assert found(waiter.reply()) == [3]

    def test_its_time_is_over(self, given):
        waiter = given.client()
        waiter.send_line(f"XREAD BLOCK 50 {ORDERS} STREAMS s $")
        given.send_line("XADD s 7-0 type mail")
        given.advance(50)
        assert waiter.reply() is None

    def test_readers_of_other_values_get_theirs(self, given):
        kinds = ("order", "mail", "mail")
        waiters = [given.client() for _ in kinds]
        for waiter, kind in zip(waiters, kinds, strict=True):
            waiter.send_line(f"XREAD BLOCK 0 WHERE type 1 {kind} STREAMS s $")
        given.send_line("MULTI")
        given.send_line("XADD s 7-0 type mail")
        given.send_line("XADD s 8-0 type order")
        given.send_line("EXEC")
        assert [found(waiter.reply()) for waiter in waiters] == [[8], [7], [7]]


class TestXreadgroup:
    def test_what_is_skipped_is_delivered_and_acknowledged(self, given):
        assert found(given.send_line(GROUP.format(f"COUNT 2 {ORDERS}"))) == [1, 3]
        assert group(given) == (b"3-0", 3, 3, 2)
        assert found(given.send_line(GROUP.format(f"COUNT 2 {ORDERS}"))) == [6]
        assert group(given) == (b"6-0", 6, 0, 3)
        assert given.send_line(GROUP.format("")) is None

    def test_the_group_passes_all_if_there_is_none(self, given):
        assert given.send_line(GROUP.format("WHERE type 1 nothing")) is None
        assert group(given) == (b"6-0", 6, 0, 0)
        assert given.logged() == [
            b"XGROUP CREATECONSUMER s g a",
            b"XGROUP SETID s g 6-0 ENTRIESREAD 6",
        ]

    def test_it_is_logged_in_words_that_any_redis_knows(self, given):
        given.send_line(GROUP.format(ORDERS + " COUNT 1"))
        given.logged()
        given.send_line(GROUP.format(ORDERS + " COUNT 1"))
        assert [line.split(b" TIME ")[0] for line in given.logged()] == [
            b"XCLAIM s g a 0 3-0",
            b"XGROUP SETID s g 3-0 ENTRIESREAD 3",
        ]

    def test_noack_keeps_nothing(self, given):
        assert found(given.send_line(GROUP.format(f"NOACK {ORDERS}"))) == [1, 3, 6]
        assert group(given) == (b"6-0", 6, 0, 0)

    def test_a_waiting_reader_stays_while_the_group_goes_on(self, given):
        given.send_line(GROUP.format(""))
        waiter = given.client()
        waiter.send_line(f"XREADGROUP GROUP g b BLOCK 0 {ORDERS} STREAMS s >")
        given.logged()
        given.send_line("XADD s 7-0 type mail")
        assert waiter.reply() == NOTHING
        assert group(given) == (b"7-0", 7, 0, 6)
        assert given.logged() == [
            b"XADD s 7-0 type mail", b"XGROUP SETID s g 7-0 ENTRIESREAD 7",
        ]  # fmt: skip
        given.send_line("XADD s 8-0 type order")
        assert found(waiter.reply()) == [8]
        assert group(given) == (b"8-0", 8, 0, 7)

    def test_what_does_not_fit_is_not_passed(self, given):
        given.send("XADD", "s", "7-0", "type", "mail")
        given.send("XADD", "s", "8-0", "type", "order", "text", "x" * 3000)
        line = GROUP.format(f"MAXSIZE 600 {ORDERS}")
        assert found(given.send_line(line)) == [1, 3, 6]
        assert group(given)[:2] == (b"7-0", 7)
        assert found(given.send_line(line)) == [8]

    def test_a_deleted_entry_makes_the_counter_unknown_as_ever(self, given):
        given.send_line("XDEL s 4-0")
        given.send_line("XGROUP CREATE s plain 0")
        given.send_line(GROUP.format(f"COUNT 2 {ORDERS}"))
        given.send_line("XREADGROUP GROUP plain a COUNT 3 STREAMS s >")
        assert group(given)[:3] == group(given, b"plain")[:3]
        given.send_line(GROUP.format(ORDERS))
        given.send_line("XREADGROUP GROUP plain a STREAMS s >")
        assert group(given)[:3] == group(given, b"plain")[:3]

    def test_the_history_is_of_those_that_match(self, given):
        given.send_line(GROUP.format(""))
        line = "XREADGROUP GROUP g a WHERE type 1 mail STREAMS s 0"
        assert found(given.send_line(line)) == [2, 5]
        given.send_line("XDEL s 2-0")
        assert found(given.send_line(line)) == [5]
        assert [row[3] for row in given.send_line("XPENDING s g - + 9")] == [1, 2, 1, 1, 3, 1]
        assert found(given.send_line("XREADGROUP GROUP g a WHERE n 1 9 STREAMS s 0")) == []

    def test_transactions_and_scripts_look_at_all(self, given, monkeypatch):
        monkeypatch.setattr(stream_request, "LOOKS", 2)
        given.send_line("MULTI")
        given.send_line("XREAD WHERE n 1 6 STREAMS s 0")
        given.send_line(GROUP.format("WHERE n 1 6"))
        assert [found(reply) for reply in given.send_line("EXEC")] == [[6], [6]]
        script = "return redis.call('XREAD', 'WHERE', 'n', 1, 9, 'STREAMS', 's', '0')"
        assert given.send("EVAL", script, 1, "s") is None

    def test_resp3_clients_get_a_map(self, given):
        given.send_line("HELLO 3")
        line = GROUP.format(f"NOFIELDS {ORDERS}").encode().split()
        assert given.owner.raw(*line) == (
            b"%1\r\n$1\r\ns\r\n*3\r\n$3\r\n1-0\r\n$3\r\n3-0\r\n$3\r\n6-0\r\n"
        )

    def test_watching_transactions_do_not_mind(self, given):
        other = given.client()
        other.send_line("WATCH s")
        other.send_line("MULTI")
        other.send_line("PING")
        given.send_line(GROUP.format("WHERE n 1 9"))
        assert other.send_line("EXEC") == [b"PONG"]


class TestClaims:
    def test_only_what_matches_is_claimed(self, given):
        given.send_line(GROUP.format(""))
        given.advance(100)
        line = "XREADGROUP GROUP g b CLAIM 50 WHERE type 1 mail STREAMS s >"
        assert found(given.send_line(line)) == [2, 5]
        rows = given.send_line("XPENDING s g - + 9")
        assert [row[1] for row in rows] == [b"a", b"b", b"a", b"a", b"b", b"a"]

    def test_a_waiting_reader_is_woken_for_what_matches(self, given):
        given.send_line(GROUP.format("COUNT 1"))
        given.advance(30)
        given.send_line(GROUP.format("COUNT 5"))
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g b BLOCK 0 CLAIM 50 WHERE n 1 2 STREAMS s >")
        given.advance(20)
        assert waiter.reply() == NOTHING
        given.advance(30)
        assert found(waiter.reply()) == [2]

    def test_what_nobody_wants_wakes_nobody_at_once(self, given):
        given.send_line(GROUP.format(""))
        given.advance(100)
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g b BLOCK 0 CLAIM 50 WHERE n 1 99 STREAMS s >")
        assert waiter.client.waiter.wake_at_ms == 0

    def test_visibility_gives_what_matches(self, given):
        given.send_line("XGROUP CFGSET s g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER d MKSTREAM")
        given.send_line(GROUP.format("COUNT 3"))
        given.send_line("XGROUP CFGSET s g MAXDELIVERIES 2")
        given.advance(60)
        line = "XREADGROUP GROUP g b WHERE type 1 mail STREAMS s >"
        assert found(given.send_line(line)) == [2, 5]
        given.advance(60)
        assert found(given.send_line(line)) == [5]
        assert given.send_line("XLEN d") == 1
        assert found(given.send_line("XREADGROUP GROUP g b STREAMS s >")) == [1, 3]

    def test_what_is_dead_is_moved_whoever_reads(self, given):
        given.send_line("XGROUP CFGSET s g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER d MKSTREAM")
        given.send_line(GROUP.format(""))
        given.advance(60)
        assert given.send_line(GROUP.format("WHERE n 1 99")) is None
        assert given.send_line("XLEN d") == 6

    def test_no_room_no_move(self, given):
        given.send_line("XGROUP CFGSET s g MAXPENDING 1")
        line = GROUP.format("WHERE type 1 mail")
        assert found(given.send_line(line)) == [2]
        assert given.send_line(line) is None
        assert group(given)[0] == b"2-0"
        given.send_line("XACK s g 2-0")
        assert found(given.send_line(line)) == [5]

    def test_a_paused_group_does_not_move(self, given):
        given.send_line("XGROUP PAUSE s g")
        assert given.send_line(GROUP.format("WHERE n 1 9")) is None
        assert group(given)[0] == b"0-0"


class TestManyClaims:
    """Once, each of many waiters looked at 10,000 pending entries twice, all in the same turn."""

    CLAIM = "XREADGROUP GROUP g b {} CLAIM 0 WHERE n 1 {} STREAMS s >"

    @pytest.fixture
    def pending(self, given, monkeypatch):
        """The consumer a has all entries of s. A turn looks at three of those, or few more."""
        given.send_line(GROUP.format(""))
        monkeypatch.setattr(group_serving, "MOST_LOOKS", 3)
        return given

    def waiters(self, server, values, line=CLAIM):
        made = [server.client() for _ in values]
        for waiter, value in zip(made, values, strict=True):
            waiter.send_line(line.format("BLOCK 0", value))
        assert all(waiter.waits for waiter in made)
        return made

    @pytest.mark.parametrize("streams", ["STREAMS s >", "MATCH s >"])
    def test_waiters_look_in_turns_of_their_own(self, pending, streams):
        line = self.CLAIM.replace("STREAMS s >", streams)
        waiters = self.waiters(pending, [91, 92, 93, 94], line)
        turns: list[object] = []
        pending.call_soon, later = turns.append, pending.call_soon
        pending.send_line("XADD s 7-0 n 7")
        pending.call_soon = later
        blocks = [waiter.client.waiter.block for waiter in waiters]
        assert sorted(block.reads_on for block in blocks) == [False, True, True, True]
        pending.turn(pending.dispatcher.waits.read_on)
        assert not any(waiter.client.waiter.block.reads_on for waiter in waiters)
        assert group(pending)[0] == b"7-0"

    def test_one_looks_for_all_who_want_the_same(self, pending, monkeypatch):
        monkeypatch.setattr(group_serving, "MOST_LOOKS", 1000)
        wanted = [91, 92, 91, 92, 91]
        waiters = self.waiters(pending, wanted)
        before = [waiter.client.waiter.block for waiter in waiters]
        pending.send_line("XADD s 7-0 n 7")
        after = [waiter.client.waiter.block for waiter in waiters]
        ran = [n for n, one, other in zip(wanted, before, after, strict=True) if one is not other]
        assert sorted(ran) == [91, 92]
        pending.send_line("XADD s 8-0 n 91")
        pending.send_line("XADD s 9-0 n 92")
        got = [(n, found(w.reply())) for n, w in zip(wanted, waiters, strict=True) if not w.waits]
        # What one is given is idle at once, so the others have it after that.
        assert sorted(got) == [(91, [8])] * 3 + [(92, [9])] * 2

    def test_who_wants_something_else_looks_for_itself(self, pending, monkeypatch):
        monkeypatch.setattr(group_serving, "MOST_LOOKS", 1000)
        wants = ["", "NOACK", "CLAIM 5", "CLAIM 6", "WHERE n 1 91", "WHERE n 1 92"]
        wants += ["WHERE n 2 91 92", "NOACK WHERE n 1 91", "CLAIM 5 WHERE n 1 91"]
        line = "XREADGROUP GROUP g b BLOCK 0 {1} STREAMS s >"
        waiters = self.waiters(pending, wants * 2, line)
        names = [waiter.client.waiter.block.speaks_for for waiter in waiters]
        assert names[: len(wants)] == names[len(wants) :]
        assert len(set(names) - {None}) == len(wants)

    def test_a_call_that_does_not_wait_goes_on_in_the_next_turn(self, pending):
        pending.state.blocking.looks = 3
        assert found(pending.send_line(self.CLAIM.format("", 5))) == [5]
        pending.state.blocking.looks = 3
        assert pending.send_line(self.CLAIM.format("", 9)) is None

    def test_transactions_look_at_all(self, pending):
        pending.send_line("MULTI")
        for value in (9, 5):
            pending.send_line(self.CLAIM.format("", value))
        assert [found(reply) for reply in pending.send_line("EXEC")] == [[], [5]]

    def test_of_many_streams_few_entries_are_looked_at_in_each(self, pending):
        for ms in range(7, 15):
            pending.send_line(f"XADD s {ms}-0 n {ms}")
        pending.send_line(GROUP.format(""))
        pending.advance(1)
        waiter = pending.client()
        line = self.CLAIM.format("BLOCK 0", 14).replace("STREAMS s >", "STREAMS" + " s" * 1000)
        waiter.send_line(line + " >" * 1000)
        assert waiter.reply() == NOTHING
        wait_ms = waiter.client.waiter.block.wake_ms
        assert 1000 <= wait_ms <= 2000
        assert (pending.now_ms + wait_ms) % 1000 == 0  # as all who wait
        pending.send_line("XACK s g 1-0 2-0 3-0 4-0 5-0 6-0")
        pending.advance(wait_ms)
        assert found(waiter.reply()) == [14]

    def test_streams_by_a_pattern_are_looked_at_in_several_turns(self, pending):
        for key in ("s1", "s2", "s3"):
            pending.send_line(f"XGROUP CREATE {key} g 0 MKSTREAM")
            for ms in range(1, 5):
                pending.send_line(f"XADD {key} {ms}-0 n {key[1]}{ms}")
        pending.send_line("XREADGROUP GROUP g a MATCH s* >")
        line = self.CLAIM.replace("STREAMS s >", "MATCH s* >")
        assert pending.send_line(line.format("", 99)) is None
        for value in (14, 24, 34):
            assert found(pending.send_line(line.format("", value))) == [4]


class TestManyEntries:
    @pytest.fixture
    def few_looks(self, monkeypatch, given):
        """A call looks at two entries before others have their turn."""
        monkeypatch.setattr(stream_request, "LOOKS", 2)
        return given

    def test_a_call_goes_on_after_others(self, few_looks):
        assert found(few_looks.send_line("XREAD WHERE n 1 6 STREAMS s 0")) == [6]
        assert few_looks.send_line("XREAD WHERE n 1 9 STREAMS s 0") is None
        assert found(few_looks.send_line(GROUP.format("WHERE n 1 6"))) == [6]
        assert group(few_looks) == (b"6-0", 6, 0, 1)

    def test_what_was_found_is_answered_at_once(self, few_looks):
        assert found(few_looks.send_line(f"XREAD {ORDERS} STREAMS s 0")) == [1]
        assert found(few_looks.send_line(f"XREAD {ORDERS} STREAMS s 1")) == [3]

    def test_it_goes_on_in_each_of_several_streams(self, few_looks):
        for ms in range(1, 6):
            few_looks.send("XADD", "t", f"{ms}-0", "n", ms)
        reply = few_looks.send_line("XREAD WHERE n 1 5 STREAMS nokey s t 0 5 0")
        assert [row[0] for row in reply] == [b"t"]

    def test_what_a_consumer_had_before_is_looked_at_in_turns(self, few_looks):
        few_looks.send_line("XREADGROUP GROUP g c STREAMS s >")
        history = "XREADGROUP GROUP g c {} WHERE n 1 {} STREAMS s 0"
        assert found(few_looks.send_line(history.format("", 1))) == [1]
        assert found(few_looks.send_line(history.format("", 6))) == [6]
        for options in ("", "BLOCK 0"):
            assert few_looks.send_line(history.format(options, 9)) == [[b"s", []]]

        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        reader = few_looks.client()
        reader.send_line(history.format("BLOCK 1", 6))
        assert reader.reply() == NOTHING
        few_looks.advance(10)  # it does not wait for entries, so no time ends that
        assert reader.reply() == NOTHING
        few_looks.call_soon = later
        few_looks.turn(few_looks.dispatcher.waits.read_on)
        assert found(reader.reply()) == [6]

    def test_what_a_consumer_had_in_several_streams_is_looked_at_at_once(self, few_looks):
        few_looks.send_line("XGROUP CREATE t g 0 MKSTREAM")
        few_looks.send_line("XREADGROUP GROUP g c STREAMS s >")
        line = "XREADGROUP GROUP g c WHERE n 1 6 STREAMS s t 0 0"
        rows = few_looks.send_line(line)
        assert [row[0] for row in rows] == [b"s", b"t"]
        assert found(rows[:1]) == [6]

    def test_a_part_of_the_past_beside_what_is_new(self, few_looks):
        """Once, the head of the reply counted one stream, and two were written."""
        few_looks.send_line("XGROUP CREATE t g 0 MKSTREAM")
        for ids in ("> 0", "0 >"):
            few_looks.send_line("XGROUP SETID s g 0")
            line = f"XREADGROUP GROUP g new WHERE n 1 9 STREAMS s t {ids}"
            assert few_looks.send_line(line) in ([[b"t", []]], [[b"s", []]])

    def test_expired_entries_beside_a_part_of_the_past(self, few_looks, monkeypatch):
        """Once, this was an internal error."""
        monkeypatch.setattr(group_serving, "MOST_EXPIRED", 1)
        few_looks.send_line("XGROUP CREATE t g 0 MKSTREAM")
        for ms in (1, 2, 3):
            few_looks.send_line(f"XADD t EXPIRE 5 {ms}-0 n 1")
        few_looks.advance(10)
        assert few_looks.send_line("XREADGROUP GROUP g c WHERE n 1 9 STREAMS t s 0 >") is not None

    def test_the_words_of_a_waiting_client_are_read_once(self, given):
        reader = given.client()
        reader.send_line("XREAD BLOCK 0 WHERE n 1 77 STREAMS s $")
        request = reader.client.waiter.block.resume
        given.send_line("XADD s 70-0 n 70")
        assert reader.client.waiter.block.resume is request
        given.send_line("XADD s 77-0 n 77")
        assert found(reader.reply()) == [77]

    def test_it_is_run_while_others_are_served(self, few_looks):
        turns: list[object] = []
        reader = few_looks.client()
        waits = few_looks.dispatcher.waits
        few_looks.call_soon, later = turns.append, few_looks.call_soon
        try:
            assert reader.send_line("XREAD WHERE n 1 6 STREAMS s 0") == NOTHING
            assert reader.waits
            assert few_looks.send_line("PING") == b"PONG"
            few_looks.send_line("DEL s")
        finally:
            few_looks.call_soon = later
        few_looks.turn(waits.read_on)
        assert reader.reply() is None
        assert not reader.waits

    def test_it_may_be_ended(self, few_looks):
        reader = few_looks.client()
        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        reader.send_line("XREAD WHERE n 1 6 STREAMS s 0")
        assert few_looks.send_line(f"CLIENT UNBLOCK {reader.client.id}") == 1
        few_looks.call_soon = later
        assert reader.reply() is None
        few_looks.turn(few_looks.dispatcher.waits.read_on)
        assert reader.reply() == NOTHING

    def test_a_pause_holds_it_and_a_tick_goes_on(self, few_looks):
        reader = few_looks.client()
        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        reader.send_line("XREAD WHERE n 1 6 STREAMS s 0")
        few_looks.call_soon = later
        few_looks.send_line("CLIENT PAUSE 100 ALL")
        few_looks.turn(few_looks.dispatcher.waits.read_on)
        assert reader.reply() == NOTHING
        few_looks.advance(100)
        few_looks.turn(lambda: few_looks.state.blocking.tick(0))
        assert found(reader.reply()) == [6]

    def test_a_time_limit_holds_meanwhile(self, few_looks):
        reader = few_looks.client()
        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        reader.send_line("XREAD BLOCK 10 WHERE n 1 6 STREAMS s 0")
        few_looks.call_soon = later
        few_looks.advance(10)
        assert reader.reply() is None

    def test_a_client_may_leave_meanwhile(self, few_looks):
        reader = few_looks.client()
        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        reader.send_line(GROUP.format("WHERE n 1 6"))
        few_looks.call_soon = later
        reader.leave()
        few_looks.turn(few_looks.dispatcher.waits.read_on)
        assert group(few_looks)[0] == b"2-0"
        assert few_looks.state.blocking.waiting == 0

    def test_the_key_may_become_something_else(self, few_looks):
        readers = [few_looks.client(), few_looks.client()]
        few_looks.call_soon, later = (lambda call: None), few_looks.call_soon
        readers[0].send_line("XREAD BLOCK 0 WHERE n 1 6 STREAMS s 0")
        readers[1].send_line(GROUP.format("WHERE n 1 6"))
        few_looks.send_line("SET s text")
        few_looks.call_soon = later
        few_looks.turn(few_looks.dispatcher.waits.read_on)
        assert all(reader.reply().startswith("-WRONGTYPE") for reader in readers)


def test_a_group_beyond_all_ids_is_given_what_is_due(server):
    """Once, what it had claimed was neither answered nor logged: no ID follows the greatest."""
    server.send_line("XADD s 1-0 type a")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g ann STREAMS s >")
    server.send_line("XGROUP CFGSET s g VISIBILITY 40")
    server.send_line("XGROUP SETID s g +")
    server.advance(100)
    server.logged()
    assert found(server.send_line("XREADGROUP GROUP g bob WHERE type 1 a STREAMS s >")) == [1]
    assert [line.split()[:2] for line in server.logged()] == [
        [b"XGROUP", b"CREATECONSUMER"], [b"XCLAIM", b"s"],
    ]  # fmt: skip


@pytest.mark.parametrize("line", [
    "XREAD BLOCK 0 WHERE type 1 none STREAMS s 0", "XREAD BLOCK 0 WHERE type 1 none MATCH * 0",
    "XREADGROUP GROUP g a BLOCK 0 WHERE type 1 none STREAMS s >",
    "XREADGROUP GROUP g a BLOCK 0 WHERE type 1 none MATCH * >",
])  # fmt: skip
def test_who_waits_holds_nothing_of_a_stream_that_is_gone(server, line):
    """Once, the node that was looked at last stayed in memory."""
    before = used_at_start()
    server.send("XADD", "s", "1-0", "type", "x" * 100_000)
    server.send_line("XGROUP CREATE s g 0")
    waiting = server.client()
    waiting.send_line(line)
    assert waiting.waits
    server.send_line("FLUSHALL")
    assert allocation.used_bytes() - before < 10_000
