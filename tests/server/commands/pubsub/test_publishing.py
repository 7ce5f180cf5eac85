"""PUBLISH and SPUBLISH."""

from __future__ import annotations

from typing import Any

from tests.server.conftest import NOTHING


def test_the_reply_counts_messages_not_clients(server: Any) -> None:
    guest = server.client()
    guest.send_line("SUBSCRIBE a")
    guest.send_line("PSUBSCRIBE a*")
    guest.send_line("PSUBSCRIBE *a")
    assert server.send_line("PUBLISH a x") == 3
    assert [guest.reply() for _ in range(4)] == [
        [b"message", b"a", b"x"],
        [b"pmessage", b"a*", b"a", b"x"],
        [b"pmessage", b"*a", b"a", b"x"],
        NOTHING,
    ]


def test_channels_and_shard_channels_do_not_mix(server: Any) -> None:
    guest = server.client()
    guest.send_line("SUBSCRIBE a")
    guest.send_line("SSUBSCRIBE a")
    assert server.send_line("PUBLISH a x") == 1
    assert server.send_line("SPUBLISH a y") == 1
    assert [guest.reply(), guest.reply()] == [[b"message", b"a", b"x"], [b"smessage", b"a", b"y"]]


def test_channels_are_of_the_server_not_of_a_database(server: Any) -> None:
    guest = server.client()
    guest.send_line("SELECT 5")
    guest.send_line("SUBSCRIBE a")
    assert server.send_line("PUBLISH a x") == 1


def test_a_message_is_not_logged(server: Any) -> None:
    server.send_line("PUBLISH a x")
    server.send_line("SPUBLISH a x")
    assert server.logged() == []


def test_a_publisher_gets_its_reply_before_its_message(server: Any) -> None:
    server.send_line("HELLO 3")
    server.send_line("SUBSCRIBE a")
    message = b">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"
    assert server.owner.raw("PUBLISH", "a", "x") == b":1\r\n" + message


def test_it_is_held_back_while_writes_are_paused(server: Any) -> None:
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert guest.send_line("PUBLISH a x") == NOTHING
    server.advance(1000)
    assert guest.reply() == 0
