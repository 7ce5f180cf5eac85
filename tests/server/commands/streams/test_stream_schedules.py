"""XADD DELAY and AT, XSCHEDULED, XUNSCHEDULE, XSCHEDULE, XSCHEDULES: entries that come later."""

from __future__ import annotations

import hiredis
import pytest

from server.parts.persistence.log_commands import CommandPieces
from storage import allocation, payload
from storage.errors import Corrupt
from storage.side_data.schedule import (
    LONGEST_ZONE,
    NEVER,
    SCHEDULE,
    Job,
    Schedule,
    packed,
    read,
)
from storage.side_data.side_data import SideData
from storage.stream import stream_node
from storage.stream.stream_id import StreamId
from tests.server.conftest import NOTHING, START_MS
from tests.used_memory import used_at_start
from tests.worth import COMPILED

NOW = START_MS
BAD_TIME = f"DELAY and AT take milliseconds, of a time from 0 to {2**53}"
WITH_AN_ID = "DELAY and AT take no ID but *: the entry gets that of the moment when it is due"
ZONE_ALONE = "TZ is the time zone of a CRON expression"
BERLIN = ("TZ", "Europe/Berlin", "*", "a", "b")


def ids(server, key="s"):
    return [row[0].decode() for row in server.send("XRANGE", key, "-", "+")]


def values(server, key="s"):
    """The values of the entries of a stream."""
    return [row[1][1].decode() for row in server.send("XRANGE", key, "-", "+")]


def scheduled(server, key="s"):
    return [row[0].decode() for row in server.send("XSCHEDULED", key)]


def side(server, key=b"s", db=0):
    found = server.state.databases[db].side.get(key)
    return None if found is None else found.get(SCHEDULE)


def jobs(server, key="s"):
    return [dict(zip(row[::2], row[1::2], strict=True)) for row in server.send("XSCHEDULES", key)]


class TestDelay:
    def test_an_entry_appears_when_it_is_due_with_an_id_of_that_moment(self, server):
        assert server.send_line("XADD s DELAY 250 * a b") == b"%d-1" % (NOW + 250)
        assert server.send_line("XLEN s") == 0
        server.advance(249)
        assert server.send_line("XLEN s") == 0
        server.advance(1)
        assert server.send_line("XRANGE s - +") == [[b"%d-0" % (NOW + 250), [b"a", b"b"]]]
        assert server.send_line("XSCHEDULED s") == []

    def test_a_late_entry_has_the_id_of_the_moment_at_which_it_was_due(self, server):
        server.send_line("XADD s DELAY 250 * a b")
        server.advance(10_000)
        assert ids(server) == [f"{NOW + 250}-0"]

    def test_at_names_the_moment_and_one_that_has_passed_is_now(self, server):
        server.send_line(f"XADD s AT {NOW + 5} * n 1")
        server.send_line("XADD s AT 1000 * n 2")
        server.advance(0)
        assert ids(server) == [f"{NOW}-0"]
        server.advance(5)
        assert ids(server) == [f"{NOW}-0", f"{NOW + 5}-0"]

    def test_one_that_has_passed_is_not_too_old_for_the_stream(self, server):
        """Once, it had an ID of that time, and RETAIN-AGE removed it before anybody read it."""
        server.send_line("XADD s 1-0 a b")
        server.send_line("XCFGSET s RETAIN-AGE 7d")
        server.send_line("XADD s AT 1000 * n 2")
        server.advance(0)
        assert ids(server)[-1:] == [f"{NOW}-0"]

    def test_what_is_due_at_once_comes_in_the_order_in_which_it_was_scheduled(self, server):
        for number in range(200):
            server.send("XADD", "s", "DELAY", 10, "*", "n", number)
        server.send_line("XADD s DELAY 9 * n first")
        server.advance(10)
        assert values(server) == ["first", *map(str, range(200))]
        assert ids(server)[:3] == [f"{NOW + 9}-0", f"{NOW + 10}-0", f"{NOW + 10}-1"]

    def test_ids_only_grow_when_the_clock_goes_back(self, server):
        server.send_line("XADD s DELAY 1000 * n 1")
        server.advance(1000)
        server.now_ms -= 900
        server.send_line("XADD s DELAY 10 * n 2")
        server.advance(10)
        server.send_line("XADD s * n 3")
        assert ids(server) == [f"{NOW + 1000}-0", f"{NOW + 1000}-1", f"{NOW + 1000}-2"]

    def test_a_reader_that_waits_is_woken(self, server):
        reader, worker = server.client(), server.client()
        server.send_line("XGROUP CREATE s g $ MKSTREAM")
        assert reader.send_line("XREAD BLOCK 0 STREAMS s $") == NOTHING
        assert worker.send_line("XREADGROUP GROUP g w BLOCK 0 STREAMS s >") == NOTHING
        server.send_line("XADD s DELAY 5 * a b")
        server.advance(5)
        row = [[b"s", [[b"%d-0" % (NOW + 5), [b"a", b"b"]]]]]
        assert (reader.reply(), worker.reply()) == (row, row)

    def test_a_wait_that_ends_before_it_is_due_ends_without_it(self, server):
        early, late = server.client(), server.client()
        early.send_line("XREAD BLOCK 4 STREAMS s $")
        late.send_line("XREAD BLOCK 6 STREAMS s $")
        server.send_line("XADD s DELAY 5 * a b")
        server.advance(100)
        assert early.reply() is None
        assert late.reply()[0][0] == b"s"

    def test_no_stream_is_made_if_none_may_be(self, server):
        assert server.send_line("XADD s NOMKSTREAM DELAY 5 * a b") is None
        assert server.send_line("EXISTS s") == 0
        server.send_line("XADD s 1-1 a b")
        assert server.send_line("XADD s NOMKSTREAM DELAY 5 * a b") == b"%d-1" % (NOW + 5)

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("DELAY -1 * a b", BAD_TIME),
            ("DELAY x * a b", BAD_TIME),
            ("AT 9007199254740993 * a b", BAD_TIME),
            ("AT 5-1 * a b", BAD_TIME),
            ("DELAY 9007199254740992 * a b", BAD_TIME),
            ("DELAY 1 AT 5 * a b", "syntax error, DELAY or AT specified multiple times"),
            ("DELAY 1 1-1 a b", WITH_AN_ID),
            ("DELAY 1 5-* a b", WITH_AN_ID),
            ("DELAY 1 x a b", "Invalid stream ID specified as stream command argument"),
            ("DELAY 1 * a", "wrong number of arguments for 'xadd' command"),
            ("DELAY 1 NOMKSTREAM", "wrong number of arguments for 'xadd' command"),
            ("DELAY 1 MAXLEN 5 * a b", "MAXLEN cannot be used with DELAY or AT"),
            ("MINID 5 DELAY 1 * a b", "MINID cannot be used with DELAY or AT"),
            ("DELAY 1 ACKED * a b", "ACKED cannot be used with DELAY or AT"),
            ("IFLAST 0-0 DELAY 1 * a b", "IFLAST cannot be used with DELAY or AT"),
            ("DELAY 1 IDMP p 1 * a b", "IDMP cannot be used with DELAY or AT"),
            ("DELAY 1 IDMP", "Invalid stream ID specified as stream command argument"),
            ("DELAY 1 EXPIRE 5 IDMPAUTO", "Invalid stream ID specified as stream command argument"),
            ("idmpauto p DELAY 1 * a b", "IDMPAUTO cannot be used with DELAY or AT"),
        ],
    )
    def test_refusals(self, server, words, error):
        assert server.send_line(f"XADD s {words}") == f"-ERR {error}"
        assert server.send_line("EXISTS s") == 0

    def test_another_type_is_refused(self, server):
        server.send_line("SET k v")
        for line in (
            "XADD k DELAY 1 * a b",
            "XSCHEDULED k",
            "XUNSCHEDULE k 1-1",
            "XSCHEDULES k",
            "XSCHEDULE k n EVERY 1 * a b",
            "XSCHEDULE k n NEXT 1",
        ):
            assert server.send_line(line).startswith("-WRONGTYPE")

    def test_a_field_of_any_bytes_comes_back(self, server):
        words = [b"", bytes(range(256)), b"007", b"-12", b"x" * 100_000, b"12"]
        server.send("XADD", "s", "DELAY", 1, "*", *words)
        assert server.send_line("XSCHEDULED s")[0][1] == words
        server.advance(1)
        assert server.send_line("XRANGE s - +")[0][1] == words

    def test_events_and_watch(self, server):
        hearer, other = server.client(), server.client()
        server.send_line("CONFIG SET notify-keyspace-events Et")
        hearer.send_line("SUBSCRIBE __keyevent@0__:xschedule")
        hearer.send_line("SUBSCRIBE __keyevent@0__:xadd")
        server.send_line("XADD s 1-1 a b")
        hearer.reply(), hearer.reply()
        other.send_line("WATCH s")
        server.send_line("XADD s DELAY 1 * a b")
        assert hearer.reply()[1] == b"__keyevent@0__:xschedule"
        other.send_line("MULTI")
        assert other.send_line("EXEC") == []
        other.send_line("WATCH s")
        server.advance(1)
        assert hearer.reply()[1] == b"__keyevent@0__:xadd"
        other.send_line("MULTI")
        assert other.send_line("EXEC") is None

    @pytest.mark.skipif(COMPILED, reason="the limit of a listpack is a C number")
    @pytest.mark.parametrize("line", ["XADD s DELAY 1 * {}", "XSCHEDULE s j EVERY 1 * {}"])
    def test_what_could_never_be_added_is_refused_at_once(self, server, monkeypatch, line):
        monkeypatch.setattr(stream_node, "_LIMIT", 150)
        reply = server.send_line(line.format("n " + 100 * "v"))
        assert str(reply) == "-ERR Elements are too large to be stored"
        assert str(server.send_line("XADD s * n " + 100 * "v")) == str(reply)
        assert server.send_line("EXISTS s") == 0


class TestSchedule:
    def test_it_is_shown_in_the_order_of_times(self, server):
        for delay in (30, 10, 20, 10):
            server.send("XADD", "s", "DELAY", delay, "*", "d", delay)
        all_ids = [f"{NOW + 10}-2", f"{NOW + 10}-4", f"{NOW + 20}-3", f"{NOW + 30}-1"]
        assert scheduled(server) == all_ids
        assert len(server.send_line("XSCHEDULED s COUNT 2")) == 2
        rows = server.send("XSCHEDULED", "s", f"({all_ids[0]}", "+", "COUNT", 1)
        assert rows == [[all_ids[1].encode(), [b"d", b"10"]]]
        assert len(server.send("XSCHEDULED", "s", "-", NOW + 10)) == 2
        assert server.send_line("XSCHEDULED none") == []
        assert server.send_line("XSCHEDULED s COUNT 0") == "-ERR COUNT must be > 0"
        assert server.send_line("XSCHEDULED s - + x") == "-ERR syntax error"

    def test_it_shows_a_hundred_unless_told_otherwise(self, server):
        for _ in range(150):
            server.send_line("XADD s DELAY 5 * a b")
        assert len(server.send_line("XSCHEDULED s")) == 100
        assert len(server.send_line("XSCHEDULED s COUNT 1000")) == 150

    def test_an_entry_is_unscheduled_by_its_id_and_that_is_never_given_again(self, server):
        first = server.send_line(f"XADD s AT {NOW + 5} * a 1")
        assert server.send("XUNSCHEDULE", "s", first, "7-7") == 1
        assert server.send("XUNSCHEDULE", "s", first) == 0
        assert server.send_line(f"XADD s AT {NOW + 5} * a 2") != first
        server.advance(5)
        assert values(server) == ["2"]
        assert server.send_line("XUNSCHEDULE none 1-1") == 0
        assert server.send_line("XUNSCHEDULE s NAMES") == "-ERR syntax error"

    def test_xinfo_says_so_only_if_there_is_something(self, server):
        server.send_line("XADD s 1-1 a b")
        before = server.send_line("XINFO STREAM s")
        first = server.send_line("XADD s DELAY 5 * a b")
        info = server.send_line("XINFO STREAM s")
        assert info[info.index(b"scheduled") :][:6] == [
            b"scheduled", 1, b"jobs", 0, b"next-due", NOW + 5,
        ]  # fmt: skip
        server.send("XUNSCHEDULE", "s", first)
        assert server.send_line("XINFO STREAM s") == before

    def test_memory_is_counted_and_given_back(self, server):
        server.send_line("XADD s 1-1 a b")
        usage = server.send_line("MEMORY USAGE s")
        for _ in range(100):
            server.send("XADD", "s", "DELAY", 5, "*", "a", "b" * 100)
        assert server.send_line("MEMORY USAGE s") > usage + 100 * 140
        used = used_at_start()
        made = side(server).copy()
        made.put(Job(b"tick", 100, b"", b"", 12, packed([b"x", b"y"], 0)))
        assert allocation.used_bytes() > used + 100 * 140
        del made
        assert allocation.used_bytes() == used


class TestJobs:
    def test_one_of_every_so_many_ms(self, server):
        assert server.send_line("XSCHEDULE s tick EVERY 100 * a b") == NOW + 100
        for _ in range(5):
            server.advance(50)
        assert ids(server) == [f"{NOW + 100}-0", f"{NOW + 200}-0"]
        assert jobs(server) == [
            {b"name": b"tick", b"every": 100, b"next": NOW + 300, b"fields": [b"a", b"b"]}
        ]

    def test_missed_runs_are_one_and_the_next_keeps_step(self, server):
        server.send_line("XSCHEDULE s tick EVERY 100 * a b")
        server.advance(1030)
        assert ids(server) == [f"{NOW + 100}-0"]
        assert jobs(server)[0][b"next"] == NOW + 1100

    def test_cron_without_a_zone_is_utc(self, server):
        # 2023-11-14 22:13:20 UTC
        server.send("XSCHEDULE", "s", "night", "CRON", "0 3 * * *", "*", "task", "report")
        assert jobs(server) == [{
            b"name": b"night", b"cron": b"0 3 * * *", b"zone": b"UTC", b"next": 1_700_017_200_000,
            b"fields": [b"task", b"report"],
        }]  # fmt: skip
        server.advance(1_700_017_200_000 - NOW)
        assert ids(server) == ["1700017200000-0"]
        assert jobs(server)[0][b"next"] == 1_700_103_600_000

    def test_cron_in_a_zone_at_the_change_to_summer_time(self, server):
        """On 2024-03-31 there is no 02:30 in Berlin: the job runs right after the gap."""
        server.now_ms = 1_711_836_000_000  # 2024-03-30 22:00 UTC
        server.send("XSCHEDULE", "s", "n", "CRON", "30 2 * * *", *BERLIN)
        assert jobs(server)[0][b"next"] == 1_711_846_800_000  # 01:00 UTC, 03:00 in Berlin
        server.advance(1_711_846_800_000 - server.now_ms)
        assert jobs(server)[0][b"next"] == 1_711_931_400_000  # 00:30 UTC, 02:30 in Berlin

    def test_cron_in_a_zone_at_the_change_to_winter_time(self, server):
        """On 2024-10-27 there are two 02:30 in Berlin: the job runs at the first only."""
        server.now_ms = 1_729_980_000_000  # 2024-10-26 22:00 UTC
        server.send("XSCHEDULE", "s", "n", "CRON", "30 2 * * *", *BERLIN)
        assert jobs(server)[0][b"next"] == 1_729_989_000_000  # 00:30 UTC
        server.advance(1_729_989_000_000 - server.now_ms)
        assert jobs(server)[0][b"next"] == 1_730_079_000_000  # the next day, 01:30 UTC

    def test_hourly_jobs_run_each_hour_whatever_the_clocks_in_the_street_show(self, server):
        server.now_ms = 1_729_987_200_000  # 2024-10-27 00:00 UTC
        server.send("XSCHEDULE", "s", "n", "CRON", "0 * * * *", *BERLIN)
        for _ in range(4):
            server.advance(3_600_000)
        assert [int(one[:-2]) - 1_729_987_200_000 for one in ids(server)] == [
            3_600_000, 7_200_000, 10_800_000, 14_400_000,
        ]  # fmt: skip

    def test_a_job_is_replaced_moved_and_dropped(self, server):
        server.send_line("XSCHEDULE s tick EVERY 100 * a 1")
        assert server.send_line("XSCHEDULE s tick EVERY 200 * a 2") == NOW + 200
        assert server.send("XSCHEDULE", "s", "tick", "NEXT", NOW + 7) == NOW + 7
        server.advance(7)
        assert values(server) == ["2"]
        assert jobs(server)[0][b"next"] == NOW + 207
        assert server.send_line("XSCHEDULE s other NEXT 5") is None
        assert server.send_line("XSCHEDULE none other NEXT 5") is None
        assert server.send_line("XUNSCHEDULE s NAMES tick other") == 1
        server.advance(1000)
        assert values(server) == ["2"]
        assert server.send_line("XSCHEDULES s") == []

    def test_a_job_that_is_declared_again_keeps_step(self, server):
        """A program that declares its jobs at each start must not put them off for ever."""
        line = "XSCHEDULE s tick EVERY 100 * a {}"
        for number in range(4):
            server.send_line(line.format(number))
            server.advance(60)
        assert values(server) == ["1", "3"]
        assert jobs(server)[0][b"next"] == NOW + 300
        assert server.send_line("XSCHEDULE s tick EVERY 101 * a 5") == NOW + 240 + 101
        cron = ("XSCHEDULE", "s", "c", "CRON", "0 3 * * *")
        first = server.send(*cron, *BERLIN)
        assert server.send(*cron, "NEXT", NOW + 5000, *BERLIN) == NOW + 5000
        assert server.send(*cron, *BERLIN) == NOW + 5000
        assert server.send(*cron, "TZ", "Asia/Tokyo", *BERLIN[2:]) not in (first, NOW + 5000)

    def test_next_says_when_the_first_run_is(self, server):
        line = f"XSCHEDULE s tick EVERY 100 NEXT {NOW + 5} * a 1"
        assert server.send_line(line) == NOW + 5
        server.advance(105)
        assert ids(server) == [f"{NOW + 5}-0"]
        assert jobs(server)[0][b"next"] == NOW + 205

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (["EVERY", "0", "*", "a", "b"], f"EVERY takes milliseconds from 1 to {2**53}"),
            (["EVERY", "x", "*", "a", "b"], f"EVERY takes milliseconds from 1 to {2**53}"),
            (["EVERY", "5", "EVERY", "5", "*", "a", "b"], "syntax error"),
            (["EVERY", "5", "CRON", "* * * * *", "*", "a", "b"], "syntax error"),
            (["EVERY", "5", "TZ", "UTC", "*", "a", "b"], ZONE_ALONE),
            (["EVERY", "5", "a", "b"], "syntax error"),
            (["EVERY", "5"], "syntax error"),
            (["EVERY", "5", "*", "a"], "wrong number of arguments for 'xschedule' command"),
            (["EVERY", "5", "*"], "wrong number of arguments for 'xschedule' command"),
            (["NEXT", "5", "*", "a", "b"], "syntax error"),
            (["NEXT", "-5"], f"NEXT takes unix time in milliseconds from 0 to {2**53}"),
            (["NEXT", str(NEVER)], f"NEXT takes unix time in milliseconds from 0 to {2**53}"),
            (["CRON", "0 3 * *", "*", "a", "b"], "the cron expression means nothing"),
            (["CRON", "61 3 * * *", "*", "a", "b"], "the cron expression means nothing"),
            (["CRON", "9" * 5000 + " 3 * * *", "*", "a", "b"], "the cron expression means nothing"),
            (["CRON", "\xff 3 * * *", "*", "a", "b"], "the cron expression means nothing"),
            (["CRON", "0 0 30 2 *", "*", "a", "b"], "the cron expression means nothing"),
            (
                ["CRON", "* * * * *", "TZ", "Nowhere/At_All", "*", "a", "b"],
                "there is no such time zone",
            ),
            (
                ["CRON", "* * * * *", "TZ", "../../etc/passwd", "*", "a", "b"],
                "there is no such time zone",
            ),
            (["CRON", "* * * * *", "TZ", "Europe", "*", "a", "b"], "there is no such time zone"),
            (["CRON", "* * * * *", "TZ", "+02:00", "*", "a", "b"], "there is no such time zone"),
            (["CRON", "* * * * *", "TZ", "UTC+2", "*", "a", "b"], "there is no such time zone"),
            (
                ["CRON", "* * * * *", "TZ", "Europe/" + "x/" * 2000 + "a", "*", "a", "b"],
                "there is no such time zone",
            ),
        ],
    )
    def test_refusals(self, server, words, error):
        assert server.send("XSCHEDULE", "s", "n", *words) == f"-ERR {error}"
        assert server.send_line("EXISTS s") == 0


class TestLog:
    def test_what_is_scheduled_is_logged_with_its_id(self, server):
        server.send_line("XADD s DELAY 5 * a 1")
        server.send_line("xadd s nomkstream at 9999999999999 * a 2")
        server.send_line("XSCHEDULE s tick EVERY 100 * a 3")
        server.send_line(f"XSCHEDULE s tick NEXT {NOW + 3}")
        assert server.logged() == [
            b"XADD s AT %d-1 * a 1" % (NOW + 5),
            b"xadd s AT 9999999999999-2 * a 2",
            b"XSCHEDULE s tick EVERY 100 NEXT %d * a 3" % (NOW + 100),
            b"XSCHEDULE s tick NEXT %d" % (NOW + 3),
        ]

    def test_what_is_due_is_logged_as_one_transaction_of_plain_words(self, server):
        server.send_line("XADD s DELAY 5 * a 1")
        server.send_line("XADD s DELAY 6 * a 2")
        server.send_line("XSCHEDULE s tick EVERY 5 * a 3")
        server.logged()
        server.pass_time(6)
        server.turn(server._travel.catch_up)
        assert server.transactions() == [
            [
                b"XADD s %d-0 a 1" % (NOW + 5),
                b"XADD s %d-1 a 3" % (NOW + 5),
                b"XSCHEDULE s tick NEXT %d" % (NOW + 10),
                b"XUNSCHEDULE s %d-1" % (NOW + 5),
            ],
            [b"XADD s %d-0 a 2" % (NOW + 6), b"XUNSCHEDULE s %d-2" % (NOW + 6)],
        ]

    def test_a_transaction_schedules_as_one(self, server):
        for line in ("MULTI", "XADD s DELAY 5 * a 1", "XADD s DELAY 5 * a 2", "EXEC"):
            server.send_line(line)
        assert server.transactions() == [
            [b"XADD s AT %d-1 * a 1" % (NOW + 5), b"XADD s AT %d-2 * a 2" % (NOW + 5)]
        ]

    def test_a_copy_that_is_given_the_log_is_equal_and_adds_nothing_by_itself(
        self, server, make_server
    ):
        copy = make_server()
        digests = []
        for step in (
            "XADD s DELAY 5 * a 1", "XADD s DELAY 50 * a 2", "XSCHEDULE s tick EVERY 20 * a 3",
            "XSCHEDULE s t2 EVERY 30 * a 4", "XUNSCHEDULE s NAMES t2", "time",
            "XADD s DELAY 7 * a 5", "time",
        ):  # fmt: skip
            if step == "time":
                server.advance(10)
            else:
                server.send_line(step)
            for unit in server.log.units:
                for _, words in unit:
                    copy.dispatcher.replaying.apply(copy.owner.client, list(words))
            server.log.units.clear()
            digests.append((server.send_line("DEBUG DIGEST"), copy.send_line("DEBUG DIGEST")))
        assert all(mine == its for mine, its in digests)
        assert side(copy).last == 3
        assert ids(copy) == ids(server)
        assert len(ids(copy)) == 3
        copy.advance(100)
        assert len(ids(copy)) > 3

    def test_a_replica_adds_nothing_by_itself_until_it_is_a_primary(self, server):
        server.send_line("REPLICAOF 10.0.0.9 7000")
        link = server.owner.client
        for line in (b"XADD s AT %d-1 * a 1" % (NOW + 5), b"XSCHEDULE s t EVERY 9 NEXT 7 * a 2"):
            server.dispatcher.replaying.apply(link, line.split())
        server.advance(1000)
        assert server.send_line("XLEN s") == 0
        server.send_line("REPLICAOF NO ONE")
        server.advance(0)
        assert values(server) == ["2", "1"]

    def test_a_job_of_a_zone_that_is_unknown_here_is_kept_and_runs_no_more(self, server):
        """A primary with other zones has sent it."""
        words = [
            "XSCHEDULE",
            "s",
            "t",
            "CRON",
            "* * * * *",
            "TZ",
            "Moon/Base",
            "NEXT",
            f"{NOW + 5}",
        ]
        link = server.owner.client
        server.send_line("REPLICAOF 10.0.0.9 7000")
        line = [word.encode() for word in (*words, "*", "a", "b")]
        server.dispatcher.replaying.apply(link, line)
        server.send_line("REPLICAOF NO ONE")
        server.advance(5)
        assert ids(server) == [f"{NOW + 5}-0"]
        assert jobs(server)[0][b"next"] is None
        assert server.logged()[-1] == b"XSCHEDULE s t NEXT %d" % NEVER


class TestKeys:
    """What becomes of a schedule when its key is renamed, copied, deleted ..."""

    @pytest.fixture
    def busy(self, server):
        server.send_line("XADD s DELAY 5 * a 1")
        server.send_line("XADD s DELAY 15 * a 2")
        server.send_line("XSCHEDULE s tick EVERY 10 * a 3")
        return server

    @pytest.mark.parametrize("line", ["DEL s", "UNLINK s", "SET s v", "FLUSHALL", "PEXPIREAT s 1"])
    def test_it_goes_with_the_stream(self, busy, line):
        busy.send_line(line)
        assert side(busy) is None
        assert busy.state.agenda.first() is None
        assert len(busy.state.agenda) == 0
        busy.advance(1000)
        assert busy.send_line("XLEN s") == 0 or line == "SET s v"

    def test_it_goes_when_the_stream_expires_before(self, busy):
        busy.send_line("PEXPIRE s 3")
        busy.logged()
        busy.advance(20)
        assert busy.send_line("EXISTS s") == 0
        assert busy.logged() == [b"DEL s"]

    def test_it_comes_along_under_another_name(self, busy):
        busy.send_line("XADD old DELAY 1 * a b")
        busy.send_line("RENAME s old")
        busy.advance(10)
        assert values(busy, "old") == ["1", "3"]
        assert busy.send_line("EXISTS s") == 0

    def test_it_comes_along_to_another_database(self, busy):
        busy.send_line("MOVE s 3")
        busy.advance(5)
        busy.send_line("SWAPDB 3 4")
        busy.advance(5)
        busy.send_line("SELECT 4")
        assert values(busy) == ["1", "3"]
        busy.send_line("SWAPDB 4 0")
        busy.advance(5)
        busy.send_line("SELECT 0")
        assert values(busy) == ["1", "3", "2"]

    def test_a_copy_has_its_own(self, busy):
        busy.send_line("COPY s t")
        busy.advance(5)
        busy.send_line("XUNSCHEDULE t NAMES tick")
        busy.advance(10)
        assert values(busy, "t") == ["1", "2"]
        assert values(busy, "s") == ["1", "3", "2"]
        busy.send_line("DEL s")
        assert len(busy.state.agenda) == 0

    def test_dump_and_restore(self, busy):
        dumped = busy.send_line("DUMP s")
        busy.send_line("FLUSHALL")
        busy.advance(7)
        assert busy.send("RESTORE", "t", 0, dumped) == b"OK"
        assert side(busy, b"t").last == 2
        busy.advance(0)
        busy.advance(8)
        assert values(busy, "t") == ["1", "3", "2"]

    def test_a_script_and_a_transaction_may_use_it(self, server):
        server.send("EVAL", "return redis.call('XADD', KEYS[1], 'DELAY', 5, '*', 'a', 'b')", 1, "s")
        server.advance(5)
        assert values(server) == ["b"]

    def test_keys_that_come_and_go(self, server):
        for number in range(1000):
            server.send("XADD", f"s{number % 7}", "DELAY", 10_000 - number, "*", "a", number)
            if number % 3 == 0:
                server.send("DEL", f"s{number % 7}")
        assert len(server.state.agenda) <= 7
        server.advance(10_000)
        assert sum(server.send("XLEN", f"s{number}") for number in range(7)) < 1000
        assert server.state.agenda.first() is None


class TestHeldBack:
    """Nothing is added while it may not be; it is added later."""

    def test_while_clients_are_paused(self, server):
        server.send_line("XADD s DELAY 5 * a b")
        server.send_line("CLIENT PAUSE 100 WRITE")
        server.advance(50)
        assert server.send_line("XLEN s") == 0
        server.advance(50)
        server.advance(0)
        assert ids(server) == [f"{NOW + 5}-0"]

    def test_while_writes_are_refused(self, server):
        server.send_line("XADD s DELAY 5 * a b")
        server.state.restrictions.refuse_writes(server.state.persistence.refusal or _error())
        server.advance(50)
        assert server.send_line("XLEN s") == 0
        server.state.restrictions.refuse_writes(None)
        server.advance(0)
        assert server.send_line("XLEN s") == 1

    def test_jobs_are_left_out_beyond_maxmemory(self, server):
        server.send_line("XADD s DELAY 10 * a 1")
        server.send_line("XSCHEDULE s tick EVERY 10 * a 2")
        server.run_out_of_memory()
        server.advance(10)
        assert values(server) == ["1"]
        assert jobs(server)[0][b"next"] == NOW + 20
        assert server.send_line("XADD s DELAY 10 * a 3").startswith("-OOM")
        server.state.config.maxmemory = 0
        server.state.follow_config()
        server.advance(10)
        assert values(server) == ["1", "2"]

    def test_a_stream_without_ids_left_keeps_it(self, server):
        server.send_line("XADD s 18446744073709551615-18446744073709551615 a b")
        server.send_line("XADD s DELAY 5 * a b")
        server.send_line("XADD t DELAY 6 * a b")
        server.advance(50)
        assert (server.send_line("XLEN s"), len(scheduled(server))) == (1, 1)
        assert server.send_line("XLEN t") == 1

    def test_after_xsetid_a_stream_that_was_full_gets_them(self, server):
        server.send_line("XADD s 18446744073709551615-18446744073709551615 a b")
        server.send_line("XADD s DELAY 1 * n entry")
        server.send_line(f"XSCHEDULE s j EVERY 10 NEXT {NOW + 2} * n job")
        server.advance(5)
        assert server.send_line("XLEN s") == 1
        server.send_line("XTRIM s MAXLEN 0")
        server.send_line("XSETID s 5-0")
        server.advance(1)
        assert values(server) == ["entry", "job"]

    def test_entries_of_a_full_stream_expire(self, server):
        server.send_line("XADD s EXPIRE 10 1-1 n soon")
        server.send_line("XADD s EXPIRE 30 2-1 n later")
        server.send_line("XADD s 18446744073709551615-18446744073709551615 n last")
        server.send_line("XADD s DELAY 1 * n entry")
        server.advance(5)
        assert values(server) == ["soon", "later", "last"]
        server.advance(10)
        assert values(server) == ["later", "last"]
        server.advance(20)
        assert values(server) == ["last"]
        assert server.state.agenda.first() is None

    def test_a_schedule_beside_something_else_is_left_alone(self, server):
        """RESTORE takes any payload with a right checksum."""
        schedule, data = Schedule(), SideData()
        schedule.add(5, packed([b"a", b"b"], 0))
        data.set(SCHEDULE, schedule)
        assert server.send("RESTORE", "k", 0, payload.dump(b"text", side=data)) == b"OK"
        server.send_line("XADD s DELAY 1 * a b")
        server.advance(5)
        assert server.send_line("GET k") == b"text"
        assert server.send_line("XLEN s") == 1
        assert server.send_line("XSCHEDULED k").startswith("-WRONGTYPE")


def _error():
    from protocol.replies import ErrorReply  # noqa: PLC0415

    return ErrorReply("MISCONF", "the disk is full")


class TestFiles:
    def filled(self) -> Schedule:
        made = Schedule()
        for due in (7, 5, 9, 5):
            made.add(due, packed([b"a", b"%d" % due], 0))
        first = made.first_entry(5)
        assert first is not None
        made.discard(first)
        made.put(Job(b"tick", 100, b"", b"", 12, packed([b"x", b"y"], 0)))
        for number in (3, 1, 2):
            made.deadlines.put(StreamId(number, 0), 100 - number)
        made.put(Job(b"cron", 0, b"* * * * *", b"Europe/Berlin", NEVER, packed([b"x", b"y"], 0)))
        return made

    def test_the_bytes_are_those_of_the_drawing_and_come_back(self):
        made = Schedule()
        made.add(0x102030, packed([b"a", b"7"], 0))
        made.put(Job(b"j", 5, b"", b"", 9, packed([b"x", b"y"], 0, 3)))
        made.deadlines.put(StreamId(5, 6), 7)
        assert SCHEDULE.dump(made) == (
            b"\x01\x01" b"\0\0\0\0\0\x10\x20\x30" b"\0\0\0\0\0\0\0\x01" b"\x05\0\x01a\xc0\x07"
            b"\x01" b"\x01j\x05\0\0\x09\x05\x03\x01x\x01y"
            b"\x01" b"\0\0\0\0\0\0\0\x05" b"\0\0\0\0\0\0\0\x06" b"\x07"
        )  # fmt: skip
        filled = self.filled()
        again = SCHEDULE.load(SCHEDULE.dump(filled))
        assert SCHEDULE.dump(again) == SCHEDULE.dump(filled) == SCHEDULE.dump(filled.copy())
        assert again.first_due() == 5

    def test_bytes_that_are_cut_or_changed_are_refused_or_another_schedule(self):
        whole = SCHEDULE.dump(self.filled())
        for size in range(len(whole)):
            with pytest.raises(Corrupt):
                read(whole[:size])
        for at in range(len(whole)):
            for bit in (1, 0x80):
                try:
                    made = read(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
                except Corrupt:
                    continue
                read(SCHEDULE.dump(made))

    def test_a_job_in_a_zone_of_too_long_a_name_is_corrupt(self, server):
        """Once, such a payload of RESTORE ended the server when the job was due, at each start."""
        made, zone = Schedule(), b"Europe/" + b"x/" * 29  # 65 bytes
        for name in (zone[:LONGEST_ZONE], zone):
            made.put(Job(b"j", 0, b"* * * * *", name, 1, packed([b"x", b"y"], 0)))
            if name is not zone:
                assert read(SCHEDULE.dump(made)).jobs[b"j"].zone == name
        with pytest.raises(Corrupt):
            read(SCHEDULE.dump(made))
        words = [b"XSCHEDULE", b"s", b"j", b"CRON", b"* * * * *", b"TZ", zone, b"NEXT", b"1"]
        server.dispatcher.replaying.apply(server.owner.client, [*words, b"*", b"a", b"b"])
        assert side(server) is None

    def test_commands_make_the_same_again(self, server, make_server):
        for delay in (5, 15, 25, 35):
            server.send("XADD", "s", "DELAY", delay, "*", "a", delay)
        server.send("XUNSCHEDULE", "s", f"{NOW + 35}-4")
        server.send_line("XSCHEDULE s tick EVERY 10 EXPIRE 7 * a 3")
        server.send("XSCHEDULE", "s", "night", "CRON", "0 3 * * *", *BERLIN)
        server.send_line("XADD s DELAY 100 EXPIRE 50 * a later")
        for ms in (700, 500, 500, 5000):
            server.send("XADD", "s", "EXPIRE", ms, "*", "a", ms)
        server.advance(12)
        copy = make_server()
        for piece in CommandPieces(server.state.databases, []):
            for words in commands_in(piece):
                copy.dispatcher.replaying.replay(copy.owner.client, words)
        assert copy.send_line("DEBUG DIGEST") == server.send_line("DEBUG DIGEST")
        assert SCHEDULE.dump(side(copy)) == SCHEDULE.dump(side(server))


def commands_in(piece: bytes):
    reader = hiredis.Reader()
    reader.feed(piece)
    while (words := reader.gets()) is not False:
        yield words
