"""XCFGSET RETAIN-..., COMPACT and stream-policy: streams that give up entries by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.lifecycle.retention import Retention
from storage.errors import Corrupt
from storage.side_data.stream_policy import STREAM_POLICY, StreamPolicy
from storage.stream.stream import Stream
from tests.server.conftest import SocketlessServer

DAY_MS = 86_400_000


class Keeper:
    """Cron's work on streams. *seconds* pass whenever it looks at the clock."""

    def __init__(self, server: SocketlessServer) -> None:
        self.seconds = 0.0
        self._now_s = 0.0
        self._server = server
        self.retention = Retention(server.state, self._monotonic_s)

    def _monotonic_s(self) -> float:
        self._now_s += self.seconds
        return self._now_s

    def tick(self) -> None:
        """A round of cron to its end."""
        self.begin()
        while not self.retention.is_done:
            self.slice()

    def begin(self) -> None:
        self.retention.begin()

    def slice(self) -> None:
        self._server.turn(self._go_on)

    def _go_on(self) -> None:
        if self.retention.may_go_on:
            self.retention.go_on()
        self._server.state.propagation.deliver_each()


@pytest.fixture
def keeper(server: SocketlessServer) -> Keeper:
    return Keeper(server)


@pytest.fixture
def tick(keeper: Keeper) -> Callable[[], None]:
    return keeper.tick


@pytest.fixture
def log(server: SocketlessServer) -> SocketlessServer:
    """The stream s has 1-0 .. 60-0 in three nodes of 20, with the fields n and k."""
    server.send_line("CONFIG SET stream-node-max-entries 20")
    for ms in range(1, 61):
        server.send("XADD", "s", f"{ms}-0", "n", ms, "k", ms % 7)
    server.logged()
    return server


def ids(server: SocketlessServer, key: str = "s") -> list[int]:
    return [int(row[0].split(b"-")[0]) for row in server.send("XRANGE", key, "-", "+")]


def info(server: SocketlessServer, key: str = "s") -> dict[bytes, Any]:
    reply = server.send("XINFO", "STREAM", key)
    return dict(zip(reply[::2], reply[1::2], strict=True))


def settings(server: SocketlessServer, key: str = "s") -> dict[bytes, object]:
    reply = server.send("XCFGGET", key)
    return dict(zip(reply[::2], reply[1::2], strict=True))


def tended(server: SocketlessServer, db: int = 0) -> list[bytes]:
    return list(server.state.databases[db].tended)


class TestSettings:
    def test_they_are_set_and_shown(self, log):
        line = "XCFGSET s retain-age 7d RETAIN-BYTES 10mb RETAIN-ACKED YES COMPACT k"
        assert log.send_line(line) == b"OK"
        assert log.send_line("XCFGSET s RETAIN-LENGTH 1000 IDMP-DURATION 5") == b"OK"
        assert settings(log) == {
            b"idmp-duration": 5, b"idmp-maxsize": 100, b"retain-age": 7 * DAY_MS,
            b"retain-length": 1000, b"retain-bytes": 10 << 20, b"retain-acked": b"yes",
            b"compact": b"k", b"min-age": 0,
        }  # fmt: skip
        assert info(log)[b"policy"] == [
            b"RETAIN-AGE", b"604800000", b"RETAIN-LENGTH", b"1000", b"RETAIN-BYTES", b"10485760",
            b"RETAIN-ACKED", b"yes", b"COMPACT", b"k",
        ]  # fmt: skip
        assert log.logged() == [line.encode(), b"XCFGSET s RETAIN-LENGTH 1000 IDMP-DURATION 5"]

    def test_a_stream_without_a_policy_is_shown_as_ever(self, log):
        before = (
            log.owner.raw("XINFO", "STREAM", "s"),
            log.owner.raw("XINFO", "STREAM", "s", "FULL"),
        )
        log.send_line("XCFGSET s RETAIN-LENGTH 5")
        assert list(info(log))[-2:] == [b"policy", b"bytes"]
        log.send_line("XCFGSET s RETAIN-LENGTH 0")
        after = log.owner.raw("XINFO", "STREAM", "s"), log.owner.raw("XINFO", "STREAM", "s", "FULL")
        assert after == before
        log.send_line("XCFGSET s DEFAULTS")
        assert not log.state.databases[0].side

    def test_what_changes_nothing_is_not_logged(self, log):
        log.send_line("XCFGSET s RETAIN-AGE 1s")
        log.logged()
        assert log.send_line("XCFGSET s RETAIN-AGE 1000") == b"OK"
        assert log.logged() == []

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("s", "-ERR At least one parameter must be specified"),
            ("t RETAIN-AGE 1", "-ERR no such key"),
            ("s RETAIN-AGE", "-ERR syntax error"),
            ("s COMPACT", "-ERR syntax error"),
            ("s NOSUCH 1", "-ERR syntax error"),
            ("s RETAIN-AGE -1", "-ERR RETAIN-AGE takes milliseconds from 0 to 9007199254740992,"
                                " or a number with ms, s, m, h, d or w"),
            ("s RETAIN-AGE 9007199254740993",
             "-ERR RETAIN-AGE takes milliseconds from 0 to 9007199254740992,"
             " or a number with ms, s, m, h, d or w"),
            ("s RETAIN-LENGTH 5k", "-ERR RETAIN-LENGTH takes a number from 0 to 9007199254740992"),
            ("s RETAIN-BYTES 5d", "-ERR RETAIN-BYTES takes bytes from 0 to 9007199254740992,"
                                  " or a number with b, k, kb, m, mb, g or gb"),
            ("s RETAIN-ACKED maybe", "-ERR RETAIN-ACKED takes yes or no"),
            ("s RETAIN-AGE 1 RETAIN-AGE 1", "-ERR RETAIN-AGE specified multiple times"),
            ("s RETAIN-AGE 1 IDMP-MAXSIZE 0", "-ERR IDMP-MAXSIZE must be between 1 and 10000"
                                              " entries"),
        ],
    )  # fmt: skip
    def test_what_is_refused_changes_nothing(self, log, words, error):
        assert log.send_line(f"XCFGSET {words}") == error
        assert not log.state.databases[0].side
        assert log.logged() == []

    def test_wrong_types(self, log):
        log.send_line("SET text x")
        for line in ("XCFGSET text RETAIN-AGE 1", "XCFGGET text"):
            assert log.send_line(line).startswith("-WRONGTYPE")
        assert log.send_line("XCFGGET nosuch") == "-ERR no such key"

    def test_bytes_of_another_policy_are_refused(self):
        policy = StreamPolicy()
        policy.set(b"RETAIN-AGE", b"7")
        dumped = STREAM_POLICY.dump(policy)
        assert STREAM_POLICY.load(dumped).words() == [b"RETAIN-AGE", b"7"]
        twice = b"\x04" + dumped[1:] * 2
        for bad in (
            dumped[:-1],
            dumped + b"x",
            b"\x01\x01a",
            b"\x02\x01a\x01b",
            b"",
            b"\x00",
            twice,
        ):
            with pytest.raises(Corrupt):
                STREAM_POLICY.load(bad)


class TestLength:
    def test_no_more_than_so_many_stay(self, log, tick):
        log.send_line("XCFGSET s RETAIN-LENGTH 33")
        log.logged()
        changes = log.state.events.changes
        tick()
        assert ids(log) == list(range(28, 61))
        assert log.logged() == [b"XTRIM s MINID = 28-0"]
        assert log.state.events.changes == changes + 27
        tick()
        assert log.logged() == []

    def test_as_entries_come_others_go(self, log, tick):
        log.send_line("XCFGSET s RETAIN-LENGTH 33")
        for ms in range(61, 70):
            log.send("XADD", "s", f"{ms}-0", "n", ms)
            tick()
            assert ids(log) == list(range(ms - 32, ms + 1))

    def test_a_slice_ends_in_time_and_the_next_goes_on(self, log, keeper):
        for ms in range(61, 2061):
            log.send("XADD", "s", f"{ms}-0", "n", ms)
        log.send_line("XCFGSET s RETAIN-LENGTH 10")
        log.logged()
        keeper.begin()
        keeper.seconds = 1.0
        keeper.slice()
        assert len(ids(log)) == 2060 - 16 * 20
        assert log.logged() == [b"XTRIM s MINID = 321-0"]
        assert keeper.retention.has_worked
        assert keeper.retention.is_over  # this tick has had its share
        keeper.tick()
        assert len(ids(log)) == 10

    def test_all_of_a_stream_may_go(self, log, tick):
        log.send_line("XCFGSET s RETAIN-AGE 5")
        log.logged()
        tick()
        assert ids(log) == []
        assert log.logged() == [b"XTRIM s MINID = 18446744073709551615-18446744073709551615"]
        assert info(log)[b"bytes"] == 0


class TestAge:
    def test_an_entry_goes_when_it_is_so_old(self, server, tick):
        first = server.send_line("XADD s * n 1")
        server.advance(400)
        server.send_line("XADD s * n 2")
        server.send_line("XCFGSET s RETAIN-AGE 1000")
        server.advance(599)
        tick()
        assert server.send_line("XLEN s") == 2
        server.advance(1)
        tick()
        assert first not in [row[0] for row in server.send_line("XRANGE s - +")]
        assert server.send_line("XLEN s") == 1

    def test_what_is_scheduled_for_later_than_that_is_added(self, server, tick):
        server.send_line("XADD s DELAY 5000 * n 1")
        server.send_line("XCFGSET s RETAIN-AGE 1000")
        tick()
        server.advance(4999)
        tick()
        assert len(server.send_line("XSCHEDULED s")) == 1
        server.advance(1)
        tick()
        assert server.send_line("XLEN s") == 1
        server.advance(1000)
        tick()
        assert server.send_line("XLEN s") == 0

    def test_the_age_of_what_was_added_late_counts_from_when_it_was_due(self, server, tick):
        """As after a time in which no server ran: its id is of that moment."""
        server.send_line("XADD s DELAY 500 * n 1")
        server.send_line("XADD s DELAY 2000 * n 2")
        server.send_line("XCFGSET s RETAIN-AGE 1000")
        server.advance(2200)
        assert server.send_line("XLEN s") == 2
        tick()
        assert [row[1] for row in server.send_line("XRANGE s - +")] == [[b"n", b"2"]]

    def test_a_clock_that_jumps_back_brings_nothing_back_and_takes_nothing(self, server, tick):
        server.send_line("XADD s * n 1")
        server.send_line("XCFGSET s RETAIN-AGE 1000")
        server.pass_time(-500_000)
        tick()
        assert server.send_line("XLEN s") == 1
        server.send_line("XCFGSET s RETAIN-AGE 9007199254740992")  # longer than there is time
        tick()
        assert server.send_line("XLEN s") == 1

    def test_a_clock_that_is_moved_has_done_all_when_it_is_answered(self, make_server):
        server = make_server(enable_debug_command="yes")
        server.send_line("XADD s * n 1")
        server.send_line("XCFGSET s RETAIN-AGE 7d")
        server.send_line(f"DEBUG CLOCK +{7 * DAY_MS - 1}ms")
        assert server.send_line("XLEN s") == 1
        server.send_line("DEBUG CLOCK +1ms")
        assert server.send_line("XLEN s") == 0


class TestBytes:
    def test_whole_nodes_go_and_the_last_one_stays(self, log, tick):
        each = info_bytes(log) // 3
        log.send("XCFGSET", "s", "RETAIN-BYTES", 2 * each + 20)
        tick()
        assert ids(log) == list(range(21, 61))
        assert info(log)[b"bytes"] <= 2 * each + 20
        log.send_line("XCFGSET s RETAIN-BYTES 1")
        tick()
        assert ids(log) == list(range(41, 61))

    def test_they_are_those_of_the_nodes_whatever_happens(self, log, tick):
        log.send_line("XCFGSET s RETAIN-LENGTH 50")
        for line in (
            "XDEL s 15 16 60", "XTRIM s MAXLEN 41", "XADD s 99-0 n 1", "XDEL s 99",
            "XTRIM s MINID 41", "XADD s 200-0 n 1", "XTRIM s MAXLEN 0", "XADD s 300-0 n 1",
        ):  # fmt: skip
            log.send_line(line)
            log.state.stream_compaction.tick(0)
            assert info(log)[b"bytes"] == info_bytes(log)
        log.send_line("COPY s t")
        assert info(log, "t")[b"bytes"] == info_bytes(log, b"t")


def info_bytes(server: SocketlessServer, key: bytes = b"s") -> int:
    stream = server.state.databases[0].table.get(key)
    assert isinstance(stream, Stream)
    return sum(node.size for _, node in stream.rax)


class TestAcked:
    @pytest.fixture
    def queue(self, log):
        log.send_line("XCFGSET s RETAIN-ACKED yes")
        log.send_line("XGROUP CREATE s g 0")
        log.send_line("XGROUP CREATE s h 0")
        log.logged()
        return log

    def read(self, server, group, count):
        server.send_line(f"XREADGROUP GROUP {group} c COUNT {count} STREAMS s >")

    def test_without_groups_nothing_goes(self, log, tick):
        log.send_line("XCFGSET s RETAIN-ACKED yes")
        tick()
        assert len(ids(log)) == 60

    def test_what_all_groups_have_acknowledged_goes(self, queue, tick):
        self.read(queue, "g", 50)
        tick()
        assert len(ids(queue)) == 60
        self.read(queue, "h", 40)
        queue.send("XACK", "s", "g", *range(1, 51))
        queue.send("XACK", "s", "h", *range(1, 31))
        queue.logged()
        tick()
        assert ids(queue) == list(range(31, 61))
        assert queue.logged() == [b"XTRIM s MINID = 31-0"]

    def test_what_is_pending_stays_and_what_is_beyond_goes(self, queue, tick):
        for group in ("g", "h"):
            self.read(queue, group, 20)
            queue.send("XACK", "s", group, *range(6, 16))
        queue.logged()
        tick()
        assert ids(queue) == [*range(1, 6), *range(16, 61)]
        (line,) = queue.logged()
        assert sorted(line.split()[2:]) == sorted(b"%d-0" % ms for ms in range(6, 16))
        queue.send("XACK", "s", "g", *range(1, 6))
        tick()
        assert ids(queue)[:6] == [1, 2, 3, 4, 5, 16]
        queue.send("XACK", "s", "h", *range(1, 6))
        tick()
        assert ids(queue) == list(range(16, 61))

    def test_what_was_read_without_being_pending_goes(self, queue, tick):
        self.read(queue, "g", 1)
        for group in ("g", "h"):
            queue.send_line(f"XREADGROUP GROUP {group} c COUNT 20 NOACK STREAMS s >")
        tick()
        assert ids(queue) == [1, *range(21, 61)]

    @pytest.mark.parametrize("line", ["XGROUP DESTROY s h", "XGROUP DELCONSUMER s h c",
                                      "XGROUP SETID s h 60 CLEAR"])  # fmt: skip
    def test_a_group_that_needs_less_lets_them_go(self, queue, tick, line):
        self.read(queue, "g", 30)
        queue.send("XACK", "s", "g", *range(2, 31))
        self.read(queue, "h", 20 if "SETID" in line else 60)
        tick()
        assert len(ids(queue)) == 60
        queue.send_line(line)
        tick()
        assert ids(queue) == [1, *range(31, 61)]

    def test_a_new_group_is_waited_for(self, queue, tick):
        for group in ("g", "h"):
            self.read(queue, group, 30)
            queue.send("XACK", "s", group, *range(2, 11))
        tick()
        queue.send_line("XGROUP CREATE s late 0")
        for group in ("g", "h"):
            queue.send("XACK", "s", group, 1, *range(11, 31))
        tick()
        assert ids(queue) == [1, *range(11, 61)]
        self.read(queue, "late", 30)
        queue.send("XACK", "s", "late", *range(12, 31))
        tick()
        assert ids(queue) == [1, 11, *range(31, 61)]

    def test_a_group_that_is_set_back_is_waited_for(self, queue, tick):
        for group in ("g", "h"):
            self.read(queue, group, 30)
            queue.send("XACK", "s", group, *range(2, 11))
        tick()
        queue.send_line("XGROUP SETID s h 0 CLEAR")
        queue.send("XACK", "s", "g", 1, *range(11, 31))
        tick()
        self.read(queue, "h", 30)
        queue.send("XACK", "s", "h", *range(11, 31))
        tick()
        assert ids(queue) == [1, *range(31, 61)]

    def test_many_acknowledgements_between_two_ticks(self, queue, tick):
        stream = queue.state.databases[0].table.get(b"s")
        for group in ("g", "h"):
            self.read(queue, group, 60)
        tick()
        references = stream.references()
        references.acked.extend([b"x" * 16] * 100_000)
        for group in ("g", "h"):
            queue.send("XACK", "s", group, *range(2, 61))
        assert len(references.acked) < 1000
        tick()
        assert ids(queue) == [1]

    def test_when_it_ends_groups_note_nothing_more(self, queue, tick):
        for group in ("g", "h"):
            self.read(queue, group, 20)
        tick()
        references = queue.state.databases[0].table.get(b"s").references()
        assert references.acked == []
        queue.send_line("XCFGSET s RETAIN-ACKED no")
        tick()
        assert references.acked is None
        queue.send_line("XACK s g 5")
        queue.send_line("XACK s h 5")
        tick()
        assert len(ids(queue)) == 60

    def test_many_groups(self, queue, tick):
        names = [f"g{number}" for number in range(10)]
        for name in names:
            queue.send_line(f"XGROUP CREATE s {name} 0")
        for name in (*names, "g", "h"):
            self.read(queue, name, 20)
            queue.send("XACK", "s", name, *range(3, 21))
        tick()
        assert ids(queue) == [1, 2, *range(21, 61)]

    def test_age_and_length_bound_it_all_the_same(self, queue, tick):
        self.read(queue, "g", 60)
        queue.send_line("XCFGSET s RETAIN-LENGTH 10")
        tick()
        assert ids(queue) == list(range(51, 61))
        assert queue.send_line("XPENDING s g")[0] == 60  # as after XTRIM
        assert len(queue.send_line("XREADGROUP GROUP h c STREAMS s >")[0][1]) == 10


class TestCompact:
    def test_of_each_value_the_newest_stays(self, log, tick):
        log.send_line("XADD s 70-0 n nothing")
        log.send_line("XADD s 71-0 n x k 5")
        log.send_line("XCFGSET s COMPACT k")
        log.logged()
        tick()
        assert ids(log) == [55, 56, 57, 58, 59, 60, 70, 71]
        assert {line.split()[0] for line in log.logged()} == {b"XDEL"}
        assert info(log)[b"compacted-to"] == b"71-0"
        assert info(log)[b"compact-index-bytes"] > 0
        usage = log.send_line("MEMORY USAGE s SAMPLES 0")
        index = info(log)[b"compact-index-bytes"]
        log.send("XCFGSET", "s", "COMPACT", "")
        tick()
        assert log.send_line("MEMORY USAGE s SAMPLES 0") < usage - index
        log.send_line("XCFGSET s COMPACT k")
        tick()
        log.logged()
        log.send_line("XADD s 72-0 k 5")
        tick()
        assert ids(log)[-2:] == [70, 72]
        assert log.logged()[-1] == b"XDEL s 71-0"

    def test_entries_of_a_stream_that_was_set_back_are_compared_too(self, log, tick):
        log.send_line("XCFGSET s COMPACT k")
        tick()  # the walk has been at 60-0
        log.send_line("XTRIM s MAXLEN 0")
        assert log.send_line("XSETID s 54-0") == b"OK"  # more than COMPACT has deleted
        log.send_line("XADD s 55-0 k 5")
        log.send_line("XADD s 56-0 k 5")
        tick()
        assert ids(log) == [56]
        log.send_line("XADD s 99-0 k 5")
        tick()
        assert ids(log) == [99]

    def test_it_is_done_in_slices(self, log, keeper):
        log.send_line("XCFGSET s COMPACT k")
        for ms in range(61, 261):
            log.send("XADD", "s", f"{ms}-0", "k", "same", "pad", "." * 5_000)
        keeper.begin()
        keeper.seconds = 1.0
        slices = 0
        while not keeper.retention.is_done:
            keeper.slice()
            slices += 1
        assert slices == 7  # 4 of 256 KB, 3 that look at what the one before has replaced
        assert len(ids(log)) == 8

    def test_nodes_that_are_mostly_deleted_are_rewritten(self, log, tick):
        log.send_line("XCFGSET s COMPACT k")
        tick()
        log.send_line("XADD s 61-0 other 1")
        log.state.stream_compaction.tick(0)
        assert info(log)[b"bytes"] == info_bytes(log) < 300

    def test_what_a_client_deletes_stays_deleted(self, log, tick):
        log.send_line("XCFGSET s COMPACT k")
        tick()
        log.send_line("XDEL s 60")
        tick()
        log.send_line("XADD s 61-0 k 4")
        tick()
        assert ids(log) == [*range(54, 60), 61]

    def test_another_field_begins_anew(self, log, tick):
        log.send_line("XCFGSET s COMPACT nosuch")
        tick()
        assert len(ids(log)) == 60
        log.send_line("XCFGSET s COMPACT k")
        tick()
        assert len(ids(log)) == 7
        log.send("XCFGSET", "s", "COMPACT", "")
        for ms in (61, 62):
            log.send_line(f"XADD s {ms}-0 k 1")
        tick()
        assert len(ids(log)) == 9

    def test_what_was_replaced_has_no_deadline_any_more(self, log, tick):
        """Nor has it on a replica, which is sent XDEL: else their digests would differ."""
        log.send_line("XADD s EXPIRE 1000 * k v")
        log.send_line("XADD s * k v")
        log.send_line("XCFGSET s COMPACT k")
        assert log.state.agenda.schedule_of(0, b"s").deadlines.count() == 1
        tick()
        assert log.send_line("XLEN s") == 8
        assert log.state.agenda.schedule_of(0, b"s") is None

    def test_values_that_have_gone_leave_the_index(self, log, tick):
        log.send_line("XCFGSET s COMPACT n RETAIN-LENGTH 10")
        for ms in range(61, 5000):
            log.send("XADD", "s", f"{ms}-0", "n", ms)
            if ms % 100 == 0:
                tick()
        newest = log.state.databases[0].tended[b"s"].newest
        assert newest.values() < 1200
        assert newest.bytes_used() < 100_000

    def test_fields_in_another_order_and_twice(self, server, tick):
        server.send_line("XCFGSET s COMPACT k")
        for number, line in enumerate(
            ("n 1 k a", "k a n 1", "k a k b", "k b k a", "n k", "k k", "k 7 n 1", "n 2 k 7"), 1
        ):
            server.send_line(f"XADD s {number}-0 {line}")
        server.send_line("XCFGSET s COMPACT k")
        tick()
        assert ids(server) == [3, 4, 5, 6, 8]

    def test_what_is_pending_is_as_after_xdel(self, log, tick):
        log.send_line("XGROUP CREATE s g 0")
        log.send_line("XREADGROUP GROUP g c COUNT 10 STREAMS s >")
        log.send_line("XCFGSET s COMPACT k")
        tick()
        assert log.send_line("XPENDING s g")[0] == 10
        assert log.send_line("XREADGROUP GROUP g c COUNT 1 STREAMS s 0")[0][1] == [[b"1-0", None]]

    def test_what_is_younger_than_min_age_stays(self, log, tick):
        """Kafka's min.compaction.lag: a newer entry replaces others when it is so old itself."""
        log.send_line("XCFGSET s COMPACT k MIN-AGE 1s")
        assert info(log)[b"policy"] == [b"COMPACT", b"k", b"MIN-AGE", b"1000"]
        log.now_ms = 1040
        tick()
        assert ids(log) == [*range(34, 41), *range(41, 61)]
        assert info(log)[b"compacted-to"] == b"40-0"
        tick()
        log.now_ms = 1020  # the clock jumps back
        tick()
        assert ids(log) == [*range(34, 41), *range(41, 61)]
        log.now_ms = 1041
        tick()
        assert ids(log) == [*range(35, 61)]
        log.send_line("XCFGSET s MIN-AGE 1")
        tick()
        assert ids(log) == [*range(54, 61)]

    def test_with_min_age_a_new_entry_is_seen_when_it_is_old_enough(self, log, tick):
        log.now_ms = 5000
        log.send_line("XCFGSET s COMPACT k MIN-AGE 100")
        tick()
        log.send_line("XADD s 5000-3 k 1")
        log.send_line("XADD s 5000-4 k 1")
        log.now_ms = 5099
        tick()
        assert ids(log)[-2:] == [5000, 5000]
        log.now_ms = 5100
        tick()
        assert ids(log) == [*range(54, 57), *range(58, 61), 5000]

    def test_a_greater_min_age_holds_for_what_was_walked_over_before(self, log, tick):
        log.now_ms = 5000
        for line in ("XCFGSET s COMPACT k", "XADD s 5000-0 k 1"):
            log.send_line(line)
            tick()
        before = ids(log)
        log.send_line("XADD s 5000-1 k 1")
        log.send_line("XCFGSET s MIN-AGE 100")
        tick()
        assert ids(log) == [*before, 5000]
        log.now_ms = 5100
        tick()
        assert ids(log) == before

    def test_a_time_before_1970_is_no_end(self, log, tick):
        log.now_ms = 5000
        log.send_line("XCFGSET s COMPACT k MIN-AGE 365w")
        tick()
        assert len(ids(log)) == 60
        log.send_line("XCFGSET s MIN-AGE 0")
        tick()
        assert len(ids(log)) == 7

    def test_min_age_alone_is_no_policy(self, log, tick):
        log.send_line("XCFGSET s MIN-AGE 5")
        assert b"policy" not in info(log)
        tick()
        assert tended(log) == []
        log.send_line("XCFGSET s COMPACT k")
        assert settings(log)[b"min-age"] == 5


class TestPatterns:
    def test_a_stream_is_found_by_its_name_when_it_is_new(self, server, tick):
        server.send("CONFIG", "SET", "stream-policy", "logs:* RETAIN-LENGTH 2")
        tick()
        for number in range(5):
            server.send("XADD", "logs:a", f"{number + 1}-0", "n", number)
            server.send("XADD", "other", f"{number + 1}-0", "n", number)
        assert tended(server) == [b"logs:a"]
        tick()
        assert (ids(server, "logs:a"), len(ids(server, "other"))) == ([4, 5], 5)
        assert info(server, "logs:a")[b"policy"] == [b"RETAIN-LENGTH", b"2"]
        assert settings(server, "logs:a")[b"retain-length"] == 2
        assert b"policy" not in info(server, "other")

    def test_those_that_are_there_are_found_by_a_walk(self, log, keeper):
        for number in range(1000):
            log.send("SET", f"key:{number}", "x")
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 2")
        keeper.seconds = 1.0
        keeper.begin()
        keeper.slice()
        assert keeper.retention.has_worked
        assert not keeper.retention.is_done
        while not keeper.retention.is_done:
            keeper.slice()
        assert len(ids(log)) == 2

    def test_what_a_stream_says_itself_wins_word_by_word(self, log, tick):
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 2 RETAIN-ACKED yes")
        log.send_line("XCFGSET s RETAIN-LENGTH 0 RETAIN-BYTES 1mb")
        assert info(log)[b"policy"] == [
            b"RETAIN-BYTES", b"1048576", b"RETAIN-ACKED", b"yes",
        ]  # fmt: skip
        tick()
        assert len(ids(log)) == 60
        log.send_line("XCFGSET s DEFAULTS")
        tick()
        assert len(ids(log)) == 2

    def test_the_first_pattern_that_matches_counts(self, log, tick):
        policies = "t* COMPACT k s* RETAIN-LENGTH 50 * RETAIN-LENGTH 1"
        log.send("CONFIG", "SET", "stream-policy", policies)
        tick()
        assert len(ids(log)) == 50

    def test_when_patterns_change_so_does_what_holds(self, log, tick):
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 50")
        tick()
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 40")
        tick()
        assert len(ids(log)) == 40
        log.send("CONFIG", "SET", "stream-policy", "")
        log.send_line("XADD s 99-0 n 1")
        tick()
        assert (len(ids(log)), tended(log)) == (41, [])

    @pytest.mark.parametrize("line", ["RENAME s logs:s", "COPY s logs:s"])
    def test_a_stream_that_gets_such_a_name(self, log, tick, line):
        log.send("CONFIG", "SET", "stream-policy", "logs:* RETAIN-LENGTH 2")
        tick()
        log.send_line("SET logs:s x")
        log.send_line(f"{line} REPLACE" if line.startswith("COPY") else line)
        log.send("RESTORE", "logs:t", 0, log.send_line("DUMP logs:s"))
        tick()
        assert len(ids(log, "logs:s")) == len(ids(log, "logs:t")) == 2

    def test_a_reload_finds_them_again(self, log, tick, folder):
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 50")
        tick()
        log.send_line("CONFIG SET enable-protected-configs yes")
        log.state.empty(log.state.databases[:1])
        assert tended(log) == []
        log.send_line("XADD s 1-0 n 1")
        assert tended(log) == [b"s"]

    def test_databases_that_are_exchanged_during_the_walk(self, log, keeper):
        for number in range(300):
            log.send("SET", f"key:{number}", "x")
        log.send("CONFIG", "SET", "stream-policy", "s RETAIN-LENGTH 2")
        keeper.seconds = 1.0
        keeper.begin()
        for _ in range(2):
            keeper.slice()
        log.send_line("SWAPDB 0 1")
        keeper.tick()
        log.send_line("SELECT 1")
        assert len(ids(log)) == 2

    def test_other_types_are_left_alone(self, server, tick):
        server.send("CONFIG", "SET", "stream-policy", "* RETAIN-LENGTH 2")
        server.send_line("SET a x")
        server.send_line("RPUSH b 1 2 3")
        tick()
        assert tended(server) == []

    @pytest.mark.parametrize(
        ("value", "why"),
        [
            ("logs:*", "after a pattern there must be one of RETAIN-AGE, RETAIN-LENGTH,"
                       " RETAIN-BYTES, RETAIN-ACKED, COMPACT, MIN-AGE"),
            ("logs:* NOSUCH 1", "after a pattern there must be one of RETAIN-AGE, RETAIN-LENGTH,"
                                " RETAIN-BYTES, RETAIN-ACKED, COMPACT, MIN-AGE"),
            ("RETAIN-AGE 7d", "a policy begins with a pattern of names"),
            ("logs:* RETAIN-AGE x", "RETAIN-AGE lacks a value, or has one that it cannot have"),
            ("logs:* RETAIN-AGE", "RETAIN-AGE lacks a value, or has one that it cannot have"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, server, value, why):
        answer = server.send("CONFIG", "SET", "stream-policy", value)
        assert answer == (
            f"-ERR CONFIG SET failed (possibly related to argument 'stream-policy') - {why}"
        )


class TestWhatGoesWithTheKey:
    """A policy belongs to the stream: whatever becomes of its key."""

    @pytest.fixture
    def kept(self, log):
        log.send_line("XCFGSET s RETAIN-LENGTH 5 COMPACT k")
        log.logged()
        return log

    @pytest.mark.parametrize("line", ["DEL s", "UNLINK s", "SET s x", "FLUSHALL", "PEXPIREAT s 1"])
    def test_it_goes(self, kept, tick, line):
        kept.send_line(line)
        assert tended(kept) == []
        tick()
        kept.send_line("DEL s")
        for ms in range(1, 10):
            kept.send_line(f"XADD s {ms}-0 k 1")
        tick()
        assert len(ids(kept)) == 9

    def test_it_comes_along(self, kept, tick):
        kept.send_line("RENAME s t")
        assert tended(kept) == [b"t"]
        kept.send_line("COPY t u")
        kept.send("RESTORE", "v", 0, kept.send_line("DUMP t"))
        kept.send_line("MOVE t 3")
        kept.send_line("COPY u t DB 4")
        tick()
        assert [len(ids(kept, key)) for key in ("u", "v")] == [5, 5]
        kept.send_line("SWAPDB 0 3")
        assert tended(kept) == [b"t"]
        assert len(ids(kept, "t")) == 5
        assert tended(kept, 4) == [b"t"]

    def test_a_copy_and_its_source_go_their_own_ways(self, kept, tick):
        kept.send_line("COPY s t")
        kept.send_line("XCFGSET t DEFAULTS")
        tick()
        assert (len(ids(kept)), len(ids(kept, "t"))) == (5, 60)

    def test_a_script_and_a_transaction_may_set_it(self, log, tick):
        script = "return redis.call('XCFGSET', KEYS[1], 'RETAIN-LENGTH', '7')"
        assert log.send("EVAL", script, 1, "s") == b"OK"
        tick()
        assert len(ids(log)) == 7
        log.send_line("MULTI")
        log.send_line("XCFGSET s RETAIN-LENGTH 6")
        log.send_line("XCFGSET s RETAIN-LENGTH 5")
        log.send_line("EXEC")
        tick()
        assert len(ids(log)) == 5

    def test_a_trim_fails_who_watches_and_tells_who_listens(self, kept, tick):
        kept.send_line("CONFIG SET notify-keyspace-events KEA")
        listener, watcher = kept.client(), kept.client()
        listener.send_line("PSUBSCRIBE __keyspace@0__:*")
        watcher.send_line("WATCH s")
        tick()
        assert listener.reply()[-1] == b"xtrim"
        watcher.send_line("MULTI")
        watcher.send_line("PING")
        assert watcher.send_line("EXEC") is None


class TestWhenItRests:
    @pytest.fixture
    def kept(self, log):
        log.send_line("XCFGSET s RETAIN-LENGTH 5")
        return log

    def test_a_replica_gives_up_nothing_and_does_when_it_is_promoted(self, kept, keeper):
        kept.send("CONFIG", "SET", "stream-policy", "t RETAIN-LENGTH 3")
        kept.send_line("REPLICAOF 127.0.0.1 1")
        keeper.begin()
        keeper.slice()
        assert len(ids(kept)) == 60
        kept.state.databases[0].table.set(b"t", kept.state.databases[0].table.get(b"s").copy())
        kept.send_line("REPLICAOF NO ONE")
        keeper.tick()
        assert (len(ids(kept)), len(ids(kept, "t"))) == (5, 3)

    def test_it_rests_while_writes_are_paused(self, kept, keeper):
        kept.send_line("CLIENT PAUSE 1000 WRITE")
        keeper.begin()
        keeper.slice()
        kept.advance(1001)
        assert len(ids(kept)) == 60
        keeper.tick()
        assert len(ids(kept)) == 5

    def test_it_rests_while_writes_are_refused(self, kept, keeper):
        kept.state.restrictions.refuse_writes(object())
        keeper.begin()
        keeper.slice()
        kept.state.restrictions.refuse_writes(None)
        assert len(ids(kept)) == 60

    def test_streams_that_have_nothing_to_give_up_take_one_slice(self, server, keeper):
        for number in range(50):
            server.send("XADD", f"s{number}", "*", "n", 1)
            server.send("XCFGSET", f"s{number}", "RETAIN-LENGTH", 5)
        keeper.begin()
        keeper.seconds = 0.0001
        keeper.slice()
        assert not keeper.retention.has_worked
        assert not keeper.retention.is_done
        first = tended(server)[0]
        keeper.begin()
        keeper.slice()
        assert tended(server)[0] != first  # others have their turn

    def test_an_expired_stream_is_left_to_its_expiry(self, kept, tick):
        kept.send_line("PEXPIRE s 10")
        kept.pass_time(11)
        kept.logged()
        tick()
        assert kept.logged() == [b"DEL s"]
        assert tended(kept) == []
