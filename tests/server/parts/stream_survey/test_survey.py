"""The walk over all streams, and INFO streams."""

from __future__ import annotations

import pytest

from server.parts.stream_survey import stream_index, survey
from server.parts.stream_survey.survey import walk

SECTION = "INFO streams"


def fields(server):
    lines = server.send_line(SECTION).decode().split("\r\n")[1:]
    return dict(line.split(":", 1) for line in lines if line)


def walked(server):
    state = server.state
    found = walk(state.databases, state.stream_index, state.events.clock)
    return [each and (each.db.index, each.key) for each in found]


def test_the_walk_comes_to_the_streams_of_all_databases(server):
    server.send_line("XADD a 1-0 f v")
    server.send_line("SET b v")
    server.send_line("SELECT 3")
    server.send_line("XADD c 1-0 f v")
    assert [each for each in walked(server) if each] == [(0, b"a"), (3, b"c")]


def test_others_have_their_turn_after_each_page_and_while_names_are_gathered(server, monkeypatch):
    for number in range(survey.PAGE * 3):
        server.send_line(f"XADD s:{number} 1-0 f v")
    found = walked(server)
    assert found.count(None) == 3
    server.state.stream_index.tick(stream_index.KEPT_MS)
    monkeypatch.setattr(stream_index, "AT_ONCE", 10)
    assert walked(server).count(None) > 4


def test_what_has_expired_is_passed_and_not_removed(server):
    server.send_line("XADD a 1-0 f v")
    server.send_line("XADD b 1-0 f v")
    server.send_line("PEXPIRE a 10")
    server.pass_time(20)
    server.state.events.clock.now_ms = server.now_ms
    server.logged()
    assert [each for each in walked(server) if each] == [(0, b"b")]
    assert server.logged() == []
    assert server.send_line("DBSIZE") == 2


def test_a_stream_may_go_while_the_walk_is_on(server):
    for number in range(10):
        server.send_line(f"XADD s:{number} 1-0 f v")
    state = server.state
    on = walk(state.databases, state.stream_index, state.events.clock)
    first = next(on)
    server.send_line("FLUSHALL")
    rest = [each.key for each in on if each is not None]
    assert first is not None
    assert rest == []


def test_info_has_the_sums(server):
    for key in "ab":
        server.send_line(f"XADD {key} 1-0 f v")
        server.send_line(f"XADD {key} 2-0 f v")
        server.send_line(f"XGROUP CREATE {key} g 0")
    server.send_line("XADD a DELAY 1000 * f v")
    server.send_line("XREADGROUP GROUP g c COUNT 1 STREAMS a >")
    server.send_line("XAUTOCLAIM a g d 0 0")
    server.advance(500)
    found = fields(server)
    size = int(found.pop("penstock_stream_bytes"))
    assert 20 < size < 1000
    assert found == {
        "penstock_streams": "2",
        "penstock_streams_counted_ago": "0",
        "penstock_stream_entries": "4",
        "penstock_stream_scheduled": "1",
        "penstock_stream_groups": "2",
        "penstock_stream_consumers": "2",
        "penstock_stream_pending": "1",
        "penstock_stream_largest_lag": "2",
        "penstock_stream_unknown_lags": "0",
        "penstock_stream_oldest_pending_ms": "500",
        "penstock_stream_redelivered": "1",
        "penstock_stream_dead_lettered": "0",
    }


def test_the_section_is_shown_to_who_asks_for_it(server):
    assert b"# Streams" in server.send_line("INFO everything")
    assert b"# Streams" not in server.send_line("INFO")


class TestManyStreams:
    @pytest.fixture(autouse=True)
    def many(self, monkeypatch):
        """No number of keys is small enough for INFO itself to look at all."""
        monkeypatch.setattr(survey, "AT_ONCE", -1)
        monkeypatch.setattr(survey, "SLICE_S", 3600.0)  # however busy the machine is

    def test_cron_counts_them_after_somebody_has_asked(self, server):
        server.send_line("XADD a 1-0 f v")
        server.state.survey.tick(1000)
        assert fields(server) == {}, "nothing is known, which is not 0"
        server.state.survey.tick(2000)
        assert fields(server)["penstock_streams"] == "1"
        server.send_line("XADD b 1-0 f v")
        server.state.survey.tick(2100)
        assert fields(server)["penstock_streams"] == "1", "a walk is not begun at once again"
        server.state.survey.tick(2000 + survey.PAUSE_MS)
        found = fields(server)
        assert (found["penstock_streams"], found["penstock_streams_counted_ago"]) == ("2", "0")
        server.state.survey.tick(9000)
        server.state.survey.tick(12000)
        assert fields(server)["penstock_streams_counted_ago"] == "3"

    def test_a_tick_takes_a_slice(self, server, monkeypatch):
        monkeypatch.setattr(survey, "SLICE_S", 0.0)
        for number in range(survey.PAGE * 3):
            server.send_line(f"XADD s:{number} 1-0 f v")
        fields(server)
        ticks = 0
        while not fields(server):
            ticks += 1
            server.state.survey.tick(ticks)
        assert ticks == 4
        assert fields(server)["penstock_streams"] == str(survey.PAGE * 3)


def test_a_walk_ends_however_fast_new_streams_come(server):
    """It went on for as long as somebody added one for each that it had come to."""
    server.send_line("XADD s:0 1-0 f v")
    state = server.state
    steps = 0
    for steps, _ in enumerate(walk(state.databases, state.stream_index, state.events.clock)):
        server.send_line(f"XADD s:{steps + 1} 1-0 f v")
        assert steps < 10
    assert steps


def test_groups_are_steps_of_the_walk_too(server, monkeypatch):
    """The groups of a stream were counted in one go, however many they are."""
    monkeypatch.setattr(survey, "AT_ONCE", -1)
    monkeypatch.setattr(survey, "SLICE_S", 0.0)
    for number in range(survey.PAGE * 3):
        server.send_line(f"XGROUP CREATE s g:{number} 0 MKSTREAM")
    fields(server)
    ticks = 0
    while not fields(server):
        ticks += 1
        server.state.survey.tick(ticks)
    assert ticks == 1 + 3 + 1
    assert fields(server)["penstock_stream_groups"] == str(survey.PAGE * 3)
