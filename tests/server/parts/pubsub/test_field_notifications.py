"""Notifications of fields of hashes: the classes S, T, I and V of notify-keyspace-events."""

from __future__ import annotations

from typing import Any

import pytest

FOUR = {
    "S": "__subkeyspace@0__:h",
    "T": "__subkeyevent@0__:hset",
    "I": "__subkeyspaceitem@0__:h\nf",
    "V": "__subkeyspaceevent@0__:hset|h",
}


@pytest.fixture
def listen(server: Any) -> Any:
    """Has the server tell *classes*, and returns what a command lets a subscriber hear."""

    def start(classes: str) -> Any:
        server.send("CONFIG", "SET", "notify-keyspace-events", classes)
        listener = server.client()
        listener.send("PSUBSCRIBE", "__*")

        def heard(line: str) -> list[tuple[bytes, bytes]]:
            server.send_line(line)
            messages = []
            while isinstance(message := listener.reply(), list):
                messages.append((message[2], message[3]))
            return messages

        return heard

    return start


@pytest.mark.parametrize(
    ("letter", "message"),
    [("S", b"hset|1:f,2:gh"), ("T", b"1:h|1:f,2:gh"), ("V", b"1:f,2:gh")],
)
def test_each_class_has_its_channel_and_message(listen: Any, letter: str, message: bytes) -> None:
    channel = FOUR[letter].encode()
    assert listen(letter + "h")("HSET h f 1 gh 2") == [(channel, message)]


def test_each_field_is_an_item(listen: Any) -> None:
    assert listen("Ih")("HSET h f 1 gh 2") == [
        (b"__subkeyspaceitem@0__:h\nf", b"hset"),
        (b"__subkeyspaceitem@0__:h\ngh", b"hset"),
    ]


def test_they_come_after_the_event_of_the_key(listen: Any) -> None:
    channels = [channel for channel, _ in listen("KESTIVA")("HSET h f 1")]
    assert channels == [b"__keyspace@0__:h", b"__keyevent@0__:hset"] + [
        channel.encode() for channel in FOUR.values()
    ]


@pytest.mark.parametrize("classes", ["KEA", "S", "STIV", "Sg$lszxetdmnoc"])
def test_without_h_or_a_channel_of_their_own_they_are_not_told(listen: Any, classes: str) -> None:
    assert not [one for one in listen(classes)("HSET h f 1") if b"sub" in one[0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("HSET h a 5", b"hset|1:a"),
        ("HMSET h a 5 b 6", b"hset|1:a,1:b"),
        ("HSETNX h new 5", b"hset|3:new"),
        ("HSETNX h a 5", None),
        ("HDEL h a no b", b"hdel|1:a,1:b"),
        ("HDEL h no", None),
        ("HINCRBY h a 5", b"hincrby|1:a"),
        ("HINCRBYFLOAT h a 5", b"hincrbyfloat|1:a"),
        ("HEXPIRE h 100 FIELDS 2 a no", b"hexpire|1:a"),
        ("HPEXPIREAT h 1 FIELDS 1 a", b"hdel|1:a"),
        ("HPERSIST h FIELDS 2 a t", b"hpersist|1:t"),
        ("HGETDEL h FIELDS 2 a no", b"hdel|1:a"),
        ("HGETEX h PERSIST FIELDS 1 t", b"hpersist|1:t"),
        ("HGETEX h EX 9 FIELDS 1 a", b"hexpire|1:a"),
        ("HSETEX h FIELDS 1 a 5", b"hset|1:a"),
        ("HSETEX h KEEPTTL FIELDS 1 t 5", b"hset|1:t"),
    ],
)
def test_what_each_command_tells(
    server: Any, listen: Any, line: str, message: bytes | None
) -> None:
    server.send_line("HSET h a 1 b 2 t 3")
    server.send_line("HEXPIRE h 1000 FIELDS 1 t")
    wanted = [] if message is None else [(b"__subkeyspace@0__:h", message)]
    assert listen("Sh")(line) == wanted


def test_fields_that_have_expired_are_told(server: Any, listen: Any) -> None:
    server.send_line("HSET h a 1 b 2")
    server.send_line("HPEXPIRE h 5 FIELDS 1 a")
    heard = listen("Sh")
    server.now_ms += 10
    assert heard("HGET h a") == [(b"__subkeyspace@0__:h", b"hexpired|1:a")]
