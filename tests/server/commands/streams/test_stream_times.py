"""Times in a payload or a command may be any 64-bit number: no command fails because of them."""

from __future__ import annotations

from typing import Any

import pytest

from storage import payload
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

EARLIEST, LATEST = -(2**63), 2**63 - 1
ENTRY = StreamId(5, 1)


def restore(server: Any, delivered_ms: int, seen_ms: int, active_ms: int) -> None:
    """Restore the stream s: its entry 5-1 is pending for alice of the group g."""
    stream = Stream()
    stream.append(ENTRY, [b"f", b"v"], 0)
    group = stream.create_group(b"g", ENTRY, 1)
    alice = group.create_consumer(b"alice", seen_ms)
    group.deliver(ENTRY, alice, delivered_ms)
    assert server.send("RESTORE", "s", 0, payload.dump(stream)) == b"OK"
    server.state.databases[0].peek(b"s").groups[b"g"].consumers[b"alice"].active_time = active_ms


def consumer_row(server: Any) -> dict[bytes, Any]:
    [row] = server.send_line("XINFO CONSUMERS s g")
    return dict(zip(row[::2], row[1::2], strict=True))


@pytest.mark.parametrize("delivered_ms", [EARLIEST, EARLIEST + 5])
def test_an_idle_time_beyond_64_bits_counts_as_0(server: Any, delivered_ms: int) -> None:
    """Once, the overflow disconnected the client that asked."""
    restore(server, delivered_ms, 1, 1)
    assert server.send_line("XPENDING s g - + 10") == [[b"5-1", b"alice", 0, 1]]
    assert server.send_line("XPENDING s g IDLE 5 - + 10") == []
    assert server.send_line(f"XPENDING s g IDLE {EARLIEST} - + 10") == [[b"5-1", b"alice", 0, 1]]
    assert server.send_line("XCLAIM s g bob 5 5-1 JUSTID") == []
    assert server.send_line("XAUTOCLAIM s g bob 5 - JUSTID") == [b"0-0", [], []]
    assert server.send_line("XCLAIM s g bob 0 5-1 JUSTID") == [b"5-1"]


@pytest.mark.parametrize(
    ("delivered_ms", "idle"), [(-1, 1_700_000_000_001), (LATEST, 0), (1_700_000_000_001, 0)]
)
def test_the_idle_time_of_other_deliveries_is_exact_and_never_negative(
    server: Any, delivered_ms: int, idle: int
) -> None:
    restore(server, delivered_ms, 1, 1)
    assert server.send_line("XPENDING s g - + 10") == [[b"5-1", b"alice", idle, 1]]


@pytest.mark.parametrize("seen_ms", [EARLIEST, LATEST])
def test_a_consumer_with_an_extreme_seen_time_is_not_idle(server: Any, seen_ms: int) -> None:
    restore(server, 1, seen_ms, -1)
    row = consumer_row(server)
    assert (row[b"idle"], row[b"inactive"]) == (0, -1)


def test_inactive_wraps_around_as_it_does_in_redis(server: Any) -> None:
    restore(server, 1, 1, EARLIEST)
    assert consumer_row(server)[b"inactive"] == server.now_ms + EARLIEST  # Redis 8.0.6


def test_xinfo_stream_full_shows_the_times_unchanged(server: Any) -> None:
    restore(server, EARLIEST, LATEST, EARLIEST)
    report = server.send_line("XINFO STREAM s FULL")
    [group] = report[report.index(b"groups") + 1]
    pending, consumers = group[group.index(b"pending") + 1], group[group.index(b"consumers") + 1]
    assert pending == [[b"5-1", b"alice", EARLIEST, 1]]
    assert consumers[0][:6] == [
        b"name", b"alice", b"seen-time", LATEST, b"active-time", EARLIEST,
    ]  # fmt: skip
