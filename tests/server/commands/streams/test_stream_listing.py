"""XINFO STREAMS: all streams of a database, page by page, with their figures."""

from __future__ import annotations

import pytest

from server.parts.stream_survey import stream_index
from storage import allocation
from tests.used_memory import used_at_start


def table(row):
    return dict(zip(row[::2], row[1::2], strict=True))


def shown(server, options=""):
    """All streams, by their keys; GROUPS makes maps of the groups, too."""
    found, cursor = {}, "0"
    while True:
        cursor, page = server.send_line(f"XINFO STREAMS {cursor} {options}")
        for row in map(table, page):
            if b"group-list" in row:
                row[b"group-list"] = [table(group) for group in row[b"group-list"]]
            found[row[b"key"]] = row
        if cursor == b"0":
            return found
        cursor = cursor.decode()


@pytest.fixture
def filled(server):
    """The stream s of 5 entries with the groups g, which has read 3 and acknowledged 1, and h."""
    for ms in range(1, 6):
        server.send_line(f"XADD s {ms}-0 f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XGROUP CREATE s h 4-0 ENTRIESREAD 4")
    server.send_line("XREADGROUP GROUP g alice COUNT 3 STREAMS s >")
    server.send_line("XACK s g 1-0")
    return server


def test_a_stream_has_all_figures(filled):
    filled.advance(700)
    [row] = shown(filled).values()
    size = row.pop(b"bytes")
    assert row == {
        b"key": b"s",
        b"length": 5,
        b"entries-added": 5,
        b"last-generated-id": b"5-0",
        b"groups": 2,
        b"consumers": 1,
        b"pending": 2,
        b"lag": 2,
        b"oldest-pending-ms": 700,
        b"redelivered": 0,
        b"dead-lettered": 0,
        b"scheduled": 0,
        b"policy": [],
    }
    assert 5 < size < 1000


def test_groups_have_theirs(filled):
    filled.advance(700)
    filled.send_line("XREADGROUP GROUP g bob COUNT 1 STREAMS s >")
    filled.send_line("XGROUP CFGSET s g MAXDELIVERIES 5 DEADLETTER dead PAUSED yes MKSTREAM")
    [one, other] = shown(filled, "MATCH s GROUPS")[b"s"][b"group-list"]
    assert one == {
        b"name": b"g",
        b"consumers": 2,
        b"pending": 3,
        b"lag": 1,
        b"last-delivered-id": b"4-0",
        b"oldest-pending-ms": 700,
        b"redelivered": 0,
        b"dead-lettered": 0,
        b"paused": 1,
        b"dead-letter": b"dead",
        b"policy": [b"MAXDELIVERIES", b"5", b"DEADLETTER", b"dead", b"PAUSED", b"yes"],
    }
    assert other[b"name"] == b"h"
    assert (other[b"oldest-pending-ms"], other[b"dead-letter"], other[b"paused"]) == (None, None, 0)


def test_what_is_not_there_or_not_known_is_null(filled):
    filled.send_line("XADD lone 1-0 f v")
    row = shown(filled)[b"lone"]
    assert (row[b"lag"], row[b"oldest-pending-ms"], row[b"pending"]) == (None, None, 0)
    filled.send_line("XGROUP SETID s h 4-0")
    filled.send_line("XDEL s 2-0")
    filled.send_line("XGROUP CREATE s unknown 1-0")
    row = shown(filled, "GROUPS")[b"s"]
    lags = {group[b"name"]: group[b"lag"] for group in row[b"group-list"]}
    assert lags[b"unknown"] is None
    assert row[b"lag"] is None, "the largest of them cannot be known"


def test_deliveries_that_are_not_the_first_are_counted(filled):
    filled.send_line("XCLAIM s g bob 0 2-0")
    filled.send_line("XCLAIM s g bob 0 2-0 JUSTID")
    filled.send_line("XAUTOCLAIM s g bob 0 3-0")
    filled.send_line("XREADGROUP GROUP g bob STREAMS s 0")
    filled.send_line("XREADGROUP GROUP g carol CLAIM 0 COUNT 1 STREAMS s >")
    row = shown(filled, "GROUPS")[b"s"]
    assert row[b"redelivered"] == 1 + 1 + 2 + 1
    assert [group[b"redelivered"] for group in row[b"group-list"]] == [5, 0]


def test_the_first_delivery_of_what_was_only_made_pending_is_none_again(filled):
    filled.send_line("XNACK s g SILENT IDS 1 5-0 FORCE")
    filled.send_line("XAUTOCLAIM s g bob 0 5-0")
    assert shown(filled)[b"s"][b"redelivered"] == 0


def test_what_was_released_has_no_age(filled):
    filled.advance(500)
    filled.send_line("XREADGROUP GROUP h dave COUNT 1 STREAMS s >")
    filled.advance(200)
    filled.send_line("XNACK s g FAIL IDS 2 2-0 3-0")
    row = shown(filled)[b"s"]
    assert (row[b"pending"], row[b"oldest-pending-ms"]) == (3, 200)


def test_dead_letters_are_counted(filled):
    filled.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM")
    filled.send_line("XAUTOCLAIM s g bob 0 0")
    rows = shown(filled, "GROUPS")
    assert rows[b"s"][b"dead-lettered"] == 2
    assert [group[b"dead-lettered"] for group in rows[b"s"][b"group-list"]] == [2, 0]
    assert rows[b"dead"][b"length"] == 2


def test_what_expires_before_it_is_read_is_a_dead_letter_too(server):
    server.send_line("XADD s EXPIRE 100 1-0 f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM")
    server.advance(200)
    server.send_line("XREADGROUP GROUP g c STREAMS s >")
    assert shown(server)[b"s"][b"dead-lettered"] == 1


def test_scheduled_entries_and_the_policy_in_force(server):
    server.send("CONFIG", "SET", "stream-policy", "logs:* RETAIN-AGE 1h")
    server.send_line("XADD logs:a 1-0 f v")
    server.send_line("XADD logs:a DELAY 1000 * f v")
    row = shown(server)[b"logs:a"]
    assert (row[b"scheduled"], row[b"policy"]) == (1, [b"RETAIN-AGE", b"3600000"])


def test_resp3_has_maps_and_nulls(server):
    server.send_line("XADD s 1-0 f v")
    server.send_line("HELLO 3")
    raw = server.owner.raw(*b"XINFO STREAMS 0".split())
    assert raw.startswith(
        b"*2\r\n$1\r\n0\r\n*1\r\n%14\r\n$3\r\nkey\r\n$1\r\ns\r\n$6\r\nlength\r\n:1\r\n"
    )
    assert b"$3\r\nlag\r\n_\r\n$17\r\noldest-pending-ms\r\n_\r\n" in raw


class TestPages:
    def test_all_are_found_by_pages_and_nothing_else(self, server):
        for number in range(25):
            server.send_line(f"XADD s:{number} 1-0 f v")
            server.send_line(f"SET t:{number} v")
        assert len(shown(server)) == 25
        assert len(shown(server, "COUNT 3")) == 25
        assert set(shown(server, "MATCH s:1?")) == {b"s:%d" % number for number in range(10, 20)}
        assert len(server.send_line("XINFO STREAMS 0 COUNT 7")[1]) == 7
        assert server.send_line("XINFO STREAMS 0 COUNT 25")[0] == b"0"

    def test_names_are_gathered_some_keys_at_a_time(self, server, monkeypatch):
        monkeypatch.setattr(stream_index, "AT_ONCE", 10)
        for number in range(500):
            server.send_line(f"SET t:{number} v")
        server.send_line("XADD s 1-0 f v")
        assert list(shown(server)) == [b"s"]
        assert server.send_line("XINFO STREAMS 0")[0] == b"0", "the next one has them all"

    def test_new_streams_come_at_the_end_and_those_that_are_gone_do_not(self, server):
        for number in range(4):
            server.send_line(f"XADD s:{number} 1-0 f v")
        cursor, _ = server.send_line("XINFO STREAMS 0 COUNT 2")
        server.send_line("XADD new 1-0 f v")
        server.send_line("SET string v")
        server.send_line("COPY new copy")
        server.send_line("RENAME copy renamed")
        server.send_line("DEL s:1")
        server.send_line("SET s:2 v")
        rest = server.send_line(f"XINFO STREAMS {cursor.decode()} COUNT 100")
        assert rest[0] == b"0"
        assert [row[1] for row in rest[1]][-2:] == [b"new", b"renamed"]
        assert len(shown(server)) == 4

    def test_who_goes_through_all_pages_meets_each_stream_that_stays(self, server):
        """Holes are closed up meanwhile, and another client begins anew."""
        for number in range(400):
            server.send_line(f"XADD s:{number} 1-0 f v")
        shown(server)
        cursor, page = server.send_line("XINFO STREAMS 0 COUNT 150")
        met = {row[1] for row in page}
        for number in range(0, 400, 2):
            server.send_line(f"DEL s:{number}")
        for number in range(1, 100, 2):
            server.send_line(f"DEL s:{number}")
        shown(server)
        while cursor != b"0":
            cursor, page = server.send_line(f"XINFO STREAMS {cursor.decode()} COUNT 100")
            met |= {row[1] for row in page}
        assert met >= {b"s:%d" % number for number in range(101, 400, 2)}

    @pytest.mark.parametrize("line", ["FLUSHALL", "SWAPDB 0 1"])
    def test_a_database_with_other_keys_is_gathered_anew(self, server, line):
        server.send_line("XADD old 1-0 f v")
        assert list(shown(server)) == [b"old"]
        server.send_line("SELECT 1")
        server.send_line("XADD other 1-0 f v")
        server.send_line("SELECT 0")
        server.send_line(line)
        server.send_line("XADD new 1-0 f v")
        expected = {b"new"} if line == "FLUSHALL" else {b"new", b"other"}
        assert set(shown(server)) == expected

    def test_each_database_has_its_own(self, server):
        server.send_line("XADD s 1-0 f v")
        server.send_line("SELECT 1")
        assert shown(server) == {}
        server.send_line("XADD t 1-0 f v")
        assert list(shown(server)) == [b"t"]

    def test_a_stream_that_has_expired_is_not_shown(self, server):
        server.send_line("XADD s 1-0 f v")
        assert list(shown(server)) == [b"s"]
        server.send_line("PEXPIRE s 10")
        server.advance(20)
        assert shown(server) == {}

    def test_a_page_ends_after_many_groups(self, server, monkeypatch):
        monkeypatch.setattr("server.commands.streams.stream_listing.MOST_GROUPS", 2)
        for number in range(3):
            for name in "gh":
                server.send_line(f"XGROUP CREATE s:{number} {name} 0 MKSTREAM")
        cursor, page = server.send_line("XINFO STREAMS 0 COUNT 100")
        assert len(page) == 1
        assert len(shown(server, "COUNT 100")) == 3
        assert cursor != b"0"

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XINFO STREAMS", "-ERR wrong number of arguments for 'xinfo|streams' command"),
            ("XINFO STREAMS x", "-ERR invalid cursor"),
            ("XINFO STREAMS 0 COUNT 0", "-ERR syntax error"),
            ("XINFO STREAMS 0 COUNT", "-ERR"),
            ("XINFO STREAMS 0 MATCH", "-ERR syntax error"),
            ("XINFO STREAMS 0 GROUPS 1", "-ERR syntax error"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, server, line, error):
        assert server.send_line(line).startswith(error)

    def test_any_cursor_is_answered(self, server):
        server.send_line("XADD s 1-0 f v")
        assert server.send_line(f"XINFO STREAMS {2**64 - 1}") == [b"0", []]


class TestRights:
    def test_only_streams_that_the_user_may_read_are_shown(self, server):
        for key in "abc":
            server.send_line(f"XADD {key} 1-0 f v")
        server.send_line("ACL SETUSER ann on nopass +@all ~a %W~b %R~c")
        server.send_line("AUTH ann x")
        assert set(shown(server)) == {b"a", b"c"}

    def test_who_may_not_call_it_is_refused(self, server):
        server.send_line("ACL SETUSER ann on nopass ~* +@all -xinfo|streams")
        server.send_line("AUTH ann x")
        assert server.send_line("XINFO STREAMS 0").startswith("-NOPERM")

    def test_rights_of_one_selector_hold_together(self, server):
        server.send_line("XADD a 1-0 f v")
        server.send_line("XADD b 1-0 f v")
        server.send_line("ACL SETUSER ann on nopass ~a +@all (~b +get)")
        server.send_line("AUTH ann x")
        assert list(shown(server)) == [b"a"]


def test_names_are_kept_only_while_somebody_asks(server):
    """Then a new key costs one look at a flag again."""
    index = server.state.stream_index
    assert not server.state.events.tells_new_keys
    server.send_line("XADD s 1-0 f v")
    shown(server)
    assert server.state.events.tells_new_keys
    index.tick(1_000)
    shown(server)
    index.tick(1_000 + stream_index.KEPT_MS - 1)
    assert server.state.events.tells_new_keys
    index.tick(1_000 + stream_index.KEPT_MS)
    assert not server.state.events.tells_new_keys
    server.send_line("XADD t 1-0 f v")
    assert set(shown(server)) == {b"s", b"t"}


def test_notifications_of_new_keys_go_on_when_the_names_go(server):
    server.send_line("CONFIG SET notify-keyspace-events KEn")
    shown(server)
    server.send_line("CONFIG SET notify-keyspace-events KEnx")
    server.state.stream_index.tick(stream_index.KEPT_MS)
    assert server.state.events.tells_new_keys


def test_keys_that_are_flushed_are_let_go(server):
    """The names held on to the table of keys, and to all values in it."""
    server.send_line("XADD s 1-0 f v")
    shown(server)
    before = used_at_start()
    server.send("XADD", "large", "1-0", "f", b"x" * 100_000)
    server.send_line("FLUSHALL")
    assert allocation.used_bytes() < before


def test_a_time_of_delivery_that_no_clock_has_shown_is_no_age(server):
    """A file may have any number of 64 bits there: the difference did not fit into a reply."""
    server.send_line("XADD s 1-1 a b")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g ann STREAMS s >")
    group = server.state.databases[0].peek(b"s").find_group(b"g")
    group.by_time.first_owned().delivery_time = -(2**63)
    _, [row] = server.send_line("XINFO STREAMS 0")
    assert dict(zip(row[::2], row[1::2], strict=True))[b"oldest-pending-ms"] == 0


@pytest.mark.parametrize("count", ["x", "9" * 20, ""])
def test_a_count_that_is_no_number_is_refused_as_by_scan(server, count):
    asked = server.send("XINFO", "STREAMS", "0", "COUNT", count)
    assert asked == server.send("SCAN", "0", "COUNT", count)
