"""Who watches, and the lines that are shown."""

from __future__ import annotations

from server.client.client import MUTED, Client
from server.client.pushes import Pushes
from server.observe.monitors import Monitors, line


def watching(*clients: Client) -> Monitors:
    pushes = Pushes()
    monitors = Monitors(pushes)
    for client in clients:
        monitors.add(client)
        pushes.end_command(client)
    return monitors


def test_a_line_has_time_database_address_and_quoted_words() -> None:
    shown = line(
        1_700_000_000_000_042, 3, "10.0.0.1:5000", [b"SET", b'a"\\\n\r\t\a\b\x00\xff', b"~"]
    )
    assert shown == (
        rb'+1700000000.000042 [3 10.0.0.1:5000] "SET" "a\"\\\n\r\t\a\b\x00\xff" "~"' + b"\r\n"
    )


def test_the_path_of_a_unix_socket_may_be_no_text() -> None:
    assert b"[0 unix:/tmp/\xff]" in line(0, 0, "unix:/tmp/\udcff", [b"PING"])


def test_all_who_watch_are_shown_a_command_but_those_who_want_no_replies() -> None:
    one, other, muted = Client(1, 0), Client(2, 0), Client(3, 0)
    monitors = watching(one, other, muted)
    muted.set_flag(MUTED)
    monitors.feed(0, 0, "x", [b"PING"])
    assert one.out.take() == other.out.take() == b'+0.000000 [0 x] "PING"\r\n'
    assert muted.out.size() == 0


def test_nothing_has_to_be_shown_when_the_last_one_has_left() -> None:
    one, other = Client(1, 0), Client(2, 0)
    monitors = watching(one, other)
    monitors.client_left(one)
    assert monitors.are_there
    monitors.client_left(Client(3, 0))
    monitors.remove(other)
    assert not monitors.are_there
    monitors.feed(0, 0, "x", [b"PING"])
    assert one.out.size() == other.out.size() == 0


def test_a_monitor_that_does_not_read_is_sent_no_more_than_its_limit() -> None:
    client = Client(1, 0)
    client.limit_output(10_000)
    monitors = watching(client)
    for _ in range(3):
        monitors.feed(0, 0, "x", [b"SET", b"k", bytes(400_000)])
    assert client.out.overflown
