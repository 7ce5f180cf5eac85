"""HOTKEYS: what is counted, when it ends, and that nothing is counted otherwise."""

from __future__ import annotations

from typing import Any

from server.observe.command_times import NEVER_NS


def report(server: Any) -> dict[bytes, Any]:
    [flat] = server.send("HOTKEYS", "GET")
    return dict(zip(flat[::2], flat[1::2], strict=True))


def pairs(flat: list[Any]) -> dict[bytes, int]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def test_the_bytes_of_requests_and_replies_count_for_their_keys(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET")
    server.send_line("SET a 1")  # 27 bytes, and +OK
    server.send_line("MSET a 2 b 3")  # 42 bytes, and +OK: for two keys
    server.send_line("GET a")  # 20 bytes, and $1 2
    server.send_line("PING")
    shown = report(server)
    assert pairs(shown[b"by-net-bytes"]) == {b"a": 32 + 23 + 27, b"b": 23}
    assert shown[b"total-net-bytes"] == shown[b"net-bytes-all-commands-all-slots"] == 32 + 47 + 27
    assert b"by-cpu-time-us" not in shown


def test_time_is_counted_and_the_keys_with_most_are_shown(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 2 CPU NET COUNT 2")
    server.send("RPUSH", "list", *range(3000))
    for number in range(5):
        server.send("SET", f"k{number}", number)
    server.send_line("SORT list")
    shown = report(server)
    assert shown[b"by-cpu-time-us"][0] == shown[b"by-net-bytes"][0] == b"list"
    assert len(pairs(shown[b"by-net-bytes"])) == 2
    assert shown[b"all-commands-all-slots-us"] >= shown[b"by-cpu-time-us"][1] > 0


def test_a_script_counts_as_one_command(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET")
    server.send("EVAL", "redis.call('SET', KEYS[1], 1) redis.call('SET', 'other', 1)", 1, "k")
    assert list(pairs(report(server)[b"by-net-bytes"])) == [b"k"]


def test_a_transaction_s_commands_count(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET")
    for line in ("MULTI", "SET a 1", "INCR b", "EXEC"):
        server.send_line(line)
    assert set(pairs(report(server)[b"by-net-bytes"])) == {b"a", b"b"}


def test_it_stops_and_its_figures_stay(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET")
    server.send_line("SET a 1")
    server.now_ms += 500
    assert server.send_line("HOTKEYS STOP") == b"OK"
    server.send_line("SET b 1")
    server.now_ms += 500
    shown = report(server)
    assert (shown[b"tracking-active"], shown[b"collection-duration-ms"]) == (0, 500)
    assert pairs(shown[b"by-net-bytes"]) == {b"a": 32}


def test_it_ends_by_itself_after_its_duration(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 CPU DURATION 2")
    server.now_ms += 2000
    server.turn(lambda: [part.tick(0) for part in server.state.parts])
    assert not server.state.hot_keys.is_on
    assert server.state.command_times.slow_ns == 10_000_000
    assert report(server)[b"tracking-active"] == 0
    assert server.send_line("HOTKEYS STOP") is None


def test_a_sample_counts_some(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET SAMPLE 10")
    for _ in range(1000):
        server.send_line("SET a 1")
    counted = report(server)[b"total-net-bytes"] / 32
    assert 40 < counted < 200


def test_a_client_that_leaves_before_its_reply_is_looked_at(server: Any) -> None:
    server.send_line("HOTKEYS START METRICS 1 NET")
    client = server.client()
    client.send_line("SET a 1")
    client.leave()
    assert pairs(report(server)[b"by-net-bytes"])[b"a"] >= 27


def test_without_a_session_no_command_is_looked_at(make_server: Any) -> None:
    server = make_server(slowlog_log_slower_than=-1)
    assert server.state.command_times.slow_ns == NEVER_NS
    server.send_line("HOTKEYS START METRICS 1 CPU")
    assert server.state.command_times.slow_ns == 0
    server.send_line("SLOWLOG RESET")
    server.send_line("SET a 1")
    assert server.send_line("SLOWLOG LEN") == 0
    server.send_line("HOTKEYS STOP")
    assert server.state.command_times.slow_ns == NEVER_NS


def test_info_shows_the_session(server: Any) -> None:
    assert server.send_line("INFO hotkeys") == b"# Hotkeys\r\n"
    server.send_line("HOTKEYS START METRICS 1 CPU")
    assert b"hotkeys-tracking-active:1\r\n" in server.send_line("INFO hotkeys")
    server.send_line("HOTKEYS STOP")
    assert b"hotkeys-tracking-active:0\r\n" in server.send_line("INFO hotkeys")
    assert server.send_line("HOTKEYS RESET") == b"OK"
    assert server.send_line("INFO hotkeys") == b"# Hotkeys\r\n"
