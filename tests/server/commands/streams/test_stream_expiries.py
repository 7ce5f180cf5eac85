"""XADD EXPIRE and XEXPIREAT: entries that nobody is given when their time is over."""

from __future__ import annotations

import pytest

from server.commands.streams.adding import stream_expiries
from server.commands.streams.groups import dead_letters
from server.commands.streams.reading import group_serving
from storage.side_data.schedule import SCHEDULE
from tests.server.conftest import NOTHING, START_MS

NOW = START_MS
READ = "XREADGROUP GROUP g w COUNT 10 STREAMS s >"


@pytest.fixture
def queue(server):
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.logged()
    return server


def values(server, key="s"):
    return [row[1][1].decode() for row in server.send("XRANGE", key, "-", "+")]


def given(reply):
    return [] if reply is None else [row[1][1].decode() for row in reply[0][1]]


def letters(server, key="dead"):
    """The value, and what is told of its origin, of each dead letter."""
    return [
        (row[1][1], dict(zip(row[1][2::2], row[1][3::2], strict=True)))
        for row in server.send("XRANGE", key, "-", "+")
    ]


def side(server):
    found = server.state.databases[0].side.get(b"s")
    return None if found is None else found.get(SCHEDULE)


class TestExpire:
    def test_it_is_there_until_its_time_is_over(self, queue):
        queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.send_line("XADD s * n 2")
        queue.advance(99)
        assert values(queue) == ["1", "2"]
        queue.advance(1)
        assert values(queue) == ["2"]
        assert given(queue.send_line(READ)) == ["2"]

    @pytest.mark.parametrize("fields", ["", " f", " f v g"])
    def test_what_is_no_field_and_value_is_refused_before_what_is_no_stream(self, server, fields):
        server.send_line("SET text 1")
        plain = server.send_line(f"XADD text *{fields}")
        assert "wrong number of arguments" in str(plain)
        assert str(server.send_line(f"XADD text EXPIRE 100 *{fields}")) == str(plain)
        assert "WRONGTYPE" in str(server.send_line("XADD text EXPIRE 100 * f v"))

    @pytest.mark.parametrize(
        "line",
        [
            "XDEL s 2-0",
            "XDELEX s IDS 1 2-0",
            "XACKDEL s g IDS 1 2-0",
            "XTRIM s MAXLEN 1 ACKED",
            "XREDRIVE s 2-0",
        ],
    )
    def test_what_is_logged_as_deleted_has_no_deadline_any_more(self, queue, line):
        """Else a replica, which is sent XDEL, would have another digest."""
        queue.send_line("XADD s 1-0 n 1")
        origin = "dead-stream t dead-id 1-0 dead-group g dead-consumer w dead-deliveries 1"
        times = "dead-first-ms 1 dead-delivered-ms 1 dead-reason fatal"
        queue.send_line(f"XADD s EXPIRE 100 2-0 n 2 {origin} {times}")
        queue.send_line("XGROUP CREATE t g 0 MKSTREAM")
        queue.send_line("XGROUP CFGSET t g DEADLETTER s")
        queue.send_line(READ)
        if "XACKDEL" not in line:
            queue.send_line("XACK s g 2-0")
        assert side(queue).deadlines.count() == 1
        queue.send_line(line)
        assert values(queue) == ["1"]
        assert side(queue) is None

    def test_a_reader_never_gets_it_after_that_even_if_nobody_has_removed_it(self, queue):
        queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.send_line("XADD s EXPIRE 101 * n 2")
        queue.pass_time(100)
        assert given(queue.send_line(READ)) == ["2"]

    def test_nor_does_one_that_claims(self, queue):
        for number in (1, 2, 3):
            queue.send("XADD", "s", "EXPIRE", number * 100, f"{number}-1", "n", number)
        queue.send_line(READ)
        queue.pass_time(100)
        assert len(queue.send_line("XAUTOCLAIM s g v 0 0")[1]) == 2
        queue.pass_time(100)
        assert queue.send_line("XCLAIM s g v 0 2-1 3-1 JUSTID") == [b"3-1"]
        queue.pass_time(100)
        assert given(queue.send_line("XREADGROUP GROUP g v CLAIM 0 STREAMS s >")) == []
        assert queue.send_line("XPENDING s g")[0] == 0
        assert queue.send_line("XREADGROUP GROUP g v STREAMS s 0") == [[b"s", []]]

    def test_nor_does_a_group_whose_visibility_has_ended(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 50")
        queue.send_line("XADD s EXPIRE 100 * n 1")
        assert given(queue.send_line(READ)) == ["1"]
        queue.pass_time(50)
        assert given(queue.send_line(READ)) == ["1"]
        queue.pass_time(50)
        assert given(queue.send_line(READ)) == []

    def test_who_waits_does_not_get_it_either(self, queue):
        waiter = queue.client()
        queue.send_line("XGROUP PAUSE s g")
        assert waiter.send_line("XREADGROUP GROUP g w BLOCK 0 STREAMS s >") == NOTHING
        queue.send_line("XADD s EXPIRE 10 * n 1")
        queue.pass_time(10)
        queue.send_line("XGROUP RESUME s g")
        assert waiter.reply() == NOTHING
        queue.send_line("XADD s * n 2")
        assert given(waiter.reply()) == ["2"]

    def test_room_in_a_group_is_made_by_what_expires(self, queue):
        waiter = queue.client()
        queue.send_line("XGROUP CFGSET s g MAXPENDING 1")
        queue.send_line("XADD s EXPIRE 10 * n 1")
        queue.send_line("XADD s * n 2")
        queue.send_line(READ)
        assert waiter.send_line("XREADGROUP GROUP g w BLOCK 0 STREAMS s >") == NOTHING
        queue.advance(10)
        assert given(waiter.reply()) == ["2"]

    def test_the_id_and_options_are_as_without(self, queue):
        assert queue.send_line("XADD s EXPIRE 10 IFLAST 0-0 MAXLEN 5 7-7 n 1") == b"7-7"
        assert queue.send_line("XADD s EXPIRE 10 IFLAST 0-0 * n 1") is None
        first = queue.send_line("XADD s IDMP p 1 EXPIRE 10 * n 2")
        assert queue.send_line("XADD s EXPIRE 99 IDMP p 1 * n 2") == first
        assert queue.send_line("XADD none NOMKSTREAM EXPIRE 10 * n 2") is None
        assert side(queue).deadlines.count() == 2
        queue.advance(10)
        assert queue.send_line("XLEN s") == 0

    def test_one_that_is_trimmed_at_once_has_no_deadline(self, queue):
        queue.send_line("XADD s EXPIRE 10 MAXLEN 0 * n 1")
        assert side(queue) is None or side(queue).deadlines.count() == 0

    @pytest.mark.parametrize("word", ["0", "-1", "x", str(2**53 + 1)])
    def test_refusals(self, queue, word):
        error = f"-ERR EXPIRE takes milliseconds from 1 to {2**53}"
        assert queue.send_line(f"XADD s EXPIRE {word} * n 1") == error
        assert queue.send_line(f"XSCHEDULE s j EVERY 5 EXPIRE {word} * n 1") == error

    def test_another_entry_with_the_id_of_one_that_was_trimmed_stays(self, queue):
        queue.send_line("XADD s EXPIRE 1000 5-1 k old")
        queue.send_line("XADD s EXPIRE 1000 6-1 k old")
        queue.send_line("XTRIM s MAXLEN 0")
        queue.send_line("XSETID s 5-1")
        queue.send_line("XADD s 6-1 k new")
        queue.advance(1001)
        assert values(queue) == ["new"]
        assert side(queue) is None

    def test_with_a_delay_it_counts_from_the_moment_at_which_it_is_added(self, queue):
        queue.send_line("XADD s DELAY 100 EXPIRE 50 * n 1")
        queue.send_line("XSCHEDULE s j EVERY 110 EXPIRE 10 * n 2")
        queue.advance(100)
        assert values(queue) == ["1"]
        queue.advance(10)
        assert values(queue) == ["1", "2"]
        queue.advance(10)
        assert values(queue) == ["1"]
        queue.advance(30)
        assert values(queue) == []
        job = queue.send_line("XSCHEDULES s")[0]
        assert job[job.index(b"expire") + 1] == 10

    def test_one_that_was_due_and_has_expired_meanwhile_is_never_given(self, queue):
        waiter = queue.client()
        waiter.send_line("XREADGROUP GROUP g w BLOCK 0 STREAMS s >")
        queue.send_line("XADD s DELAY 100 EXPIRE 50 * n 1")
        queue.advance(1000)
        assert waiter.reply() == NOTHING
        assert values(queue) == []

    @pytest.mark.parametrize("words", ["", "CLAIM 0 "])
    def test_nor_does_one_that_reads_by_a_pattern(self, queue, words):
        queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.send_line("XADD s * n 2")
        queue.pass_time(100)
        reply = queue.send_line(f"XREADGROUP GROUP g w COUNT 9 {words}MATCH s* >")
        assert [row[1][1] for row in reply[0][1]] == [b"2"]


class TestDeadLetters:
    def test_it_is_a_dead_letter_of_each_group_that_still_had_it_to_do(self, queue):
        for name in ("done", "new", "none"):
            queue.send_line(f"XGROUP CREATE s {name} 0")
        for name in ("g", "done", "new"):
            queue.send_line(f"XGROUP CFGSET s {name} DEADLETTER dead-{name} MKSTREAM")
        entry_id = queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.send_line(READ)
        queue.send_line("XREADGROUP GROUP done w STREAMS s >")
        queue.send("XACK", "s", "done", entry_id)
        queue.logged()
        queue.advance(100)
        assert letters(queue, "dead-g") == [(b"1", {
            b"dead-stream": b"s", b"dead-id": entry_id, b"dead-group": b"g",
            b"dead-consumer": b"w", b"dead-deliveries": b"1",
            b"dead-first-ms": b"%d" % NOW, b"dead-delivered-ms": b"%d" % NOW,
            b"dead-reason": b"expired",
        })]  # fmt: skip
        assert letters(queue, "dead-done") == []
        assert letters(queue, "dead-new") == [(b"1", {
            b"dead-stream": b"s", b"dead-id": entry_id, b"dead-group": b"new",
            b"dead-consumer": b"", b"dead-deliveries": b"0",
            b"dead-first-ms": b"0", b"dead-delivered-ms": b"0",
            b"dead-reason": b"expired",
        })]  # fmt: skip
        logged = queue.transactions()
        assert len(logged) == 1
        assert logged[0][2:] == [b"XACK s g " + entry_id, b"XDEL s " + entry_id]

    def test_without_a_place_for_dead_letters_it_just_goes(self, queue):
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        queue.send_line("SET dead string")
        queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.advance(100)
        assert values(queue) == []

    @pytest.mark.parametrize(("most", "copies"), [(200, [b"1", b"2"]), (1, [])])
    def test_it_goes_if_its_letter_would_be_too_large(self, queue, monkeypatch, most, copies):
        """Once, that ended the server. Without the fields of its origin it may not be too large."""
        monkeypatch.setattr(dead_letters, "MAX_ENTRY_SIZE", most)
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        for number in (1, 2):
            queue.send("XADD", "s", "EXPIRE", 100, "*", "n", number)
        queue.advance(100)
        assert values(queue) == []
        assert letters(queue) == [(value, {}) for value in copies]

    def test_a_letter_can_be_sent_back(self, queue):
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        queue.send_line("XADD s EXPIRE 100 * n 1")
        queue.advance(100)
        assert queue.send_line("XREDRIVE dead") == 1
        queue.advance(100)
        assert given(queue.send_line(READ)) == ["1"]


class TestXexpireat:
    def test_it_sets_moves_and_ends_deadlines(self, queue):
        for number in (1, 2, 3):
            queue.send("XADD", "s", f"{number}-1", "n", number)
        assert queue.send("XEXPIREAT", "s", NOW + 10, "1-1", "2-1", "9-9") == 2
        assert queue.send("XEXPIREAT", "s", NOW + 20, "2-1") == 1
        assert queue.send("XEXPIREAT", "s", 0, "1-1") == 1
        queue.advance(19)
        assert values(queue) == ["1", "2", "3"]
        queue.advance(1)
        assert values(queue) == ["1", "3"]
        assert side(queue) is None
        assert queue.send("XEXPIREAT", "s", 1, "1-1") == 1
        assert given(queue.send_line(READ)) == ["3"]

    def test_what_it_refuses(self, queue):
        error = f"-ERR XEXPIREAT takes milliseconds from 0 to {2**53}"
        assert queue.send_line("XEXPIREAT s -1 1-1") == error
        assert queue.send_line("XEXPIREAT s x 1-1") == error
        assert queue.send_line("XEXPIREAT none 5 1-1") == 0
        queue.send_line("SET k v")
        assert queue.send_line("XEXPIREAT k 5 1-1").startswith("-WRONGTYPE")

    def test_xinfo_tells_how_many(self, queue):
        before = queue.send_line("XINFO STREAM s")
        queue.send_line("XADD s EXPIRE 5 1-1 n 1")
        info = queue.send_line("XINFO STREAM s")
        assert info[info.index(b"expiring") + 1] == 1
        assert b"next-due" not in info
        queue.send_line("XDEL s 1-1")
        assert len(queue.send_line("XINFO STREAM s")) == len(before)
        assert side(queue) is None


class TestLog:
    def test_it_is_logged_as_xadd_and_xexpireat(self, queue):
        queue.send_line("XADD s EXPIRE 10 * n 1")
        queue.send_line("XADD s EXPIRE 10 NOMKSTREAM 9999999999999-1 n 2")
        queue.send_line("XADD s MAXLEN ~ 100 EXPIRE 10 9999999999999-* n 3")
        queue.send_line("XADD s DELAY 5 EXPIRE 10 * n 4")
        queue.send_line("XSCHEDULE s j EVERY 5 EXPIRE 10 * n 5")
        ends = NOW + 10
        assert queue.transactions() == [
            [b"XADD s %d-0 n 1" % NOW, b"XEXPIREAT s %d %d-0" % (ends, NOW)],
            [b"XADD s NOMKSTREAM 9999999999999-1 n 2", b"XEXPIREAT s %d 9999999999999-1" % ends],
            [b"XADD s MAXLEN = 3 9999999999999-2 n 3", b"XEXPIREAT s %d 9999999999999-2" % ends],
            [b"XADD s AT %d-1 EXPIRE 10 * n 4" % (NOW + 5)],
            [b"XSCHEDULE s j EVERY 5 NEXT %d EXPIRE 10 * n 5" % (NOW + 5)],
        ]

    def test_a_copy_that_is_given_the_log_is_equal_at_each_step(self, queue, make_server):
        copy = make_server()
        copy.send_line("XGROUP CREATE s g 0 MKSTREAM")
        copy.logged()
        for step in (
            "XGROUP CFGSET s g DEADLETTER dead MKSTREAM", "XADD s EXPIRE 15 * n 1",
            "XADD s MAXLEN 3 EXPIRE 25 * n 2", "XADD s DELAY 10 EXPIRE 8 * n 3", READ, "time",
            "XADD s * n 4", "XTRIM s MAXLEN 2", "XADD s EXPIRE 5 * n 5", "time", READ, "time",
            "XADD s EXPIRE 50 7777777777777-1 n 6", "XDEL s 7777777777777-1", "time", "time",
        ):  # fmt: skip
            queue.advance(8) if step == "time" else queue.send_line(step)
            for unit in queue.log.units:
                for _, words in unit:
                    copy.dispatcher.replaying.apply(copy.owner.client, list(words))
            queue.log.units.clear()
            assert copy.send_line("DEBUG DIGEST") == queue.send_line("DEBUG DIGEST"), step
            assert values(copy) == values(queue)
        assert copy.send_line("XPENDING s g") == queue.send_line("XPENDING s g")
        assert len(letters(copy)) == len(letters(queue)) == 3

    def test_it_is_in_rdb_payloads_and_copies(self, queue):
        queue.send_line("XADD s EXPIRE 10 * n 1")
        dumped = queue.send_line("DUMP s")
        queue.send_line("COPY s t")
        queue.send_line("RENAME s u")
        queue.send("RESTORE", "s", 0, dumped)
        queue.advance(10)
        assert [values(queue, key) for key in "stu"] == [[], [], []]

    def test_a_replica_removes_nothing_by_itself(self, server):
        server.send_line("XADD s EXPIRE 10 * n 1")
        server.send_line("REPLICAOF 10.0.0.9 7000")
        server.advance(100)
        assert values(server) == ["1"]
        server.send_line("REPLICAOF NO ONE")
        server.advance(0)
        assert values(server) == []


class TestMany:
    def test_a_reader_is_not_held_up_by_very_many(self, queue, monkeypatch):
        monkeypatch.setattr(group_serving, "MOST_EXPIRED", 10)
        for number in range(25):
            queue.send("XADD", "s", "EXPIRE", 5, "*", "n", number)
        queue.send_line("XADD s * n last")
        waiter = queue.client()
        queue.pass_time(5)
        assert queue.send_line(READ) is None
        assert queue.send_line("XLEN s") == 16
        assert waiter.send_line("XREADGROUP GROUP g w BLOCK 0 STREAMS s >") == NOTHING
        queue.advance(1)
        assert given(waiter.reply()) == ["last"]

    def test_a_claim_gets_none_of_very_many_either(self, queue, monkeypatch):
        """Once, a claim got what had expired, if more had than it removes at once."""
        monkeypatch.setattr(stream_expiries, "MOST_AT_ONCE", 2)
        for number in range(1, 10):
            queue.send("XADD", "s", "EXPIRE", 5 if number % 2 else 50, f"{number}-1", "n", number)
        queue.send_line(READ)
        queue.pass_time(5)
        assert queue.send_line("XCLAIM s g v 0 9-1 8-1 JUSTID") == [b"8-1"]
        assert queue.send_line("XCLAIM s new v 0 9-1 FORCE JUSTID").startswith("-NOGROUP")
        queue.send_line("XGROUP CREATE s new 0")
        assert queue.send_line("XCLAIM s new v 0 9-1 8-1 FORCE JUSTID") == [b"8-1"]
        taken = queue.send_line("XAUTOCLAIM s g v 0 0 JUSTID")[1]
        assert taken == [b"2-1", b"4-1", b"6-1", b"8-1"]

    def test_a_reader_is_not_held_up_by_very_many_groups(self, queue, monkeypatch):
        monkeypatch.setattr(group_serving, "MOST_EXPIRED", 10)
        queue.send_line("XADD dead 1-0 f v")
        for number in range(5):
            queue.send_line(f"XGROUP CREATE s g{number} 0")
            queue.send_line(f"XGROUP CFGSET s g{number} DEADLETTER dead MAXDELIVERIES 9")
        for number in range(20):
            queue.send_line(f"XADD s EXPIRE 10 * number {number}")
        before = queue.send_line("XLEN s")
        queue.now_ms += 10
        queue.send_line("XREADGROUP GROUP g0 c STREAMS s >")
        assert before - queue.send_line("XLEN s") == 2
        assert queue.send_line("XLEN dead") == 1 + 2 * 5

    def test_a_reader_is_seen_though_very_many_are_removed_first(self, queue, monkeypatch):
        monkeypatch.setattr(group_serving, "MOST_EXPIRED", 10)
        queue.send_line("XGROUP CREATECONSUMER s g seen")
        for number in range(25):
            queue.send("XADD", "s", "EXPIRE", 5, "*", "n", number)
        queue.pass_time(5)
        assert queue.send_line("XREADGROUP GROUP g seen STREAMS s >") is None
        assert queue.send_line("XLEN s") == 15
        (shown,) = queue.send_line("XINFO CONSUMERS s g")
        assert shown[shown.index(b"idle") + 1] == 0

    def test_deadlines_of_what_is_trimmed_do_not_pile_up(self, queue):
        for number in range(1000):
            queue.send("XADD", "s", "MAXLEN", 10, "EXPIRE", 10_000_000, "*", "n", number)
        assert side(queue).deadlines.count() <= 12

    def test_all_go_in_the_order_of_their_deadlines(self, queue):
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        for number in range(200):
            queue.send("XADD", "s", "EXPIRE", 1 + number * 7 % 200, "*", "n", number * 7 % 200)
        queue.advance(200)
        assert [value for value, _ in letters(queue)] == [b"%d" % n for n in range(200)]
        assert queue.state.agenda.first() is None
