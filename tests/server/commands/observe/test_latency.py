"""LATENCY: events, histograms, and INFO latencystats."""

from __future__ import annotations

import pytest

from server.observe.command_stats import CommandCount
from server.table.command import TABLE

MS = 1_000_000


@pytest.fixture(autouse=True)
def no_calls():
    TABLE.complete()  # else the first command's time is that of loading all of them


def has_taken(server, event, *times_ms):
    """Let *event* have taken so many ms, in one second after the other."""
    for at, ms in enumerate(times_ms):
        server.state.latency_events.add_if_long(event, ms * MS, server.now_ms // 1000 + at)


@pytest.fixture
def watched(make_server):
    return make_server(latency_monitor_threshold=10_000)  # which no real command takes


def test_latest_and_history_show_the_samples(watched):
    has_taken(watched, b"command", 100_000, 30_000, 9_000)
    assert watched.send_line("LATENCY LATEST") == [[b"command", 1_700_000_001, 30_000, 100_000]]
    assert watched.send_line("LATENCY HISTORY command") == [
        [1_700_000_000, 100_000],
        [1_700_000_001, 30_000],
    ]
    assert watched.send_line("LATENCY HISTORY nosuch") == []


def test_a_reset_forgets_some_events_or_all(watched):
    has_taken(watched, b"command", 10_000)
    has_taken(watched, b"fork", 10_000)
    assert watched.send_line("LATENCY RESET fork nosuch") == 1
    assert watched.send_line("LATENCY RESET") == 1
    assert watched.send_line("LATENCY LATEST") == []


def test_a_slow_command_is_an_event_of_its_own_kind(watched):
    for name, event in ((b"get", b"fast-command"), (b"keys", b"command")):
        row, argv = TABLE.find(name), [name, b"x"]
        watched.state.command_times.was_slow(
            watched.owner.client, row, argv, 20_000 * MS, 7, CommandCount()
        )
        assert watched.send("LATENCY", "HISTORY", event) == [[7, 20_000]]


def test_nothing_is_an_event_while_nothing_is_monitored(server):
    has_taken(server, b"command", 10_000)
    assert server.send_line("LATENCY LATEST") == []


def test_the_drawing_and_the_report_are_texts_to_be_shown_as_they_are(watched):
    has_taken(watched, b"command", 100_000)
    watched.owner.client.speak(3)
    assert watched.owner.raw("LATENCY", "GRAPH", "command").startswith(b"=")
    assert b"txt:command - high 100000 ms" in watched.owner.raw("LATENCY", "GRAPH", "command")
    assert b"1. command: 1 spikes" in watched.owner.raw("LATENCY", "DOCTOR")
    assert watched.send_line("LATENCY GRAPH nosuch") == (
        "-ERR No samples available for event 'nosuch'"
    )


def test_a_histogram_counts_the_calls_of_a_command(server):
    server.send("PING")
    server.send("PING")
    server.send_line("CONFIG GET maxmemory")
    name, (_, calls, _, steps) = server.send_line("LATENCY HISTOGRAM ping nosuch")
    assert (name, calls, steps[-1]) == (b"ping", 2, 2)
    assert server.send_line("LATENCY HISTOGRAM config")[0] == b"config|get"
    assert server.send_line("LATENCY HISTOGRAM config|get")[0] == b"config|get"
    assert sorted(server.send_line("LATENCY HISTOGRAM")[::2]) == [
        b"config|get", b"latency|histogram", b"ping",
    ]  # fmt: skip


def test_a_histogram_is_filled_while_latency_tracking_is_on(make_server):
    server = make_server(latency_tracking=False)
    server.send("PING")
    assert server.send_line("LATENCY HISTOGRAM ping") == []
    server.send_line("CONFIG SET latency-tracking yes")
    server.send("PING")
    assert server.send_line("LATENCY HISTOGRAM ping")[1][1] == 1
    server.send_line("CONFIG RESETSTAT")
    assert server.send_line("LATENCY HISTOGRAM ping") == []


def test_info_has_the_percentiles_that_are_asked_for(make_server):
    server = make_server(latency_tracking_info_percentiles="50 99.9")
    server.send("PING")
    lines = server.send("INFO", "latencystats").split(b"\r\n")
    assert lines[0] == b"# Latencystats"
    (line,) = [line for line in lines if line.startswith(b"latency_percentiles_usec_ping:")]
    assert line.startswith(b"latency_percentiles_usec_ping:p50=")
    assert b",p99.9=" in line
