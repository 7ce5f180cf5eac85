"""Keyspace notifications, by commands of a server without sockets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.config.event_classes import EventClass
from server.parts.pubsub.event_names import CLASS_OF, OWN

ROOT = Path(__file__).parents[4]


@pytest.fixture
def listener(server: Any) -> Any:
    client = server.client()
    client.send("PSUBSCRIBE", "__key*__:*")
    return client


def heard(listener: Any) -> list[str]:
    """The messages since the last call: the channel, and what was sent to it."""
    messages = []
    while isinstance(reply := listener.reply(), list):
        messages.append(f"{reply[2].decode()} {reply[3].decode()}")
    return messages


def test_nothing_is_told_by_default(server: Any, listener: Any) -> None:
    server.send_line("SET k v")
    server.send_line("GET missing")
    assert heard(listener) == []


def test_a_change_is_told_to_the_channel_of_the_key_and_then_of_the_event(
    server: Any, listener: Any
) -> None:
    server.send_line("CONFIG SET notify-keyspace-events KEA")
    server.send_line("SELECT 3")
    server.send_line("SET k v")
    assert heard(listener) == ["__keyspace@3__:k set", "__keyevent@3__:set k"]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ("K$", ["__keyspace@0__:k set"]),
        ("E$", ["__keyevent@0__:set k"]),
        ("KEg", ["__keyspace@0__:k del", "__keyevent@0__:del k"]),
        ("El$", ["__keyevent@0__:set k", "__keyevent@0__:lpush l"]),
        ("Kn", ["__keyspace@0__:k new", "__keyspace@0__:l new"]),
        ("Em", ["__keyevent@0__:keymiss k"]),
        ("A", []),
        ("KE", []),
        ("Kszhtxed", []),
    ],
)
def test_the_classes_choose_what_is_told(
    server: Any, listener: Any, classes: str, expected: list[str]
) -> None:
    server.send_line(f"CONFIG SET notify-keyspace-events {classes}")
    for line in ("SET k v", "SET k w", "DEL k", "LPUSH l a", "GET k"):
        server.send_line(line)
    once = list(dict.fromkeys(heard(listener)))
    assert once == expected


def test_a_new_key_is_told_before_what_made_it(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events KAn")
    server.send_line("RPUSH l a")
    assert heard(listener) == ["__keyspace@0__:l new", "__keyspace@0__:l rpush"]


def test_a_key_that_takes_the_place_of_another_is_new(server: Any, listener: Any) -> None:
    """RENAME, COPY REPLACE and RESTORE REPLACE remove first; SET overwrites."""
    for line in ("SET a 1", "SET b 2"):
        server.send_line(line)
    server.send_line("CONFIG SET notify-keyspace-events Kn")
    dumped = server.send("DUMP", "a")
    server.send_line("SET b 3")
    assert heard(listener) == []
    server.send_line("COPY a b REPLACE")
    server.send("RESTORE", "b", "0", dumped, "REPLACE")
    server.send_line("RENAME a b")
    assert heard(listener) == ["__keyspace@0__:b new"] * 3


def test_an_expired_key_is_told_when_it_is_removed(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events Exm")
    server.send_line("SET k v PX 10")
    server.advance(20)
    assert heard(listener) == []
    server.send_line("GET k")
    assert heard(listener) == ["__keyevent@0__:expired k", "__keyevent@0__:keymiss k"]


def test_object_counts_a_miss_and_does_not_tell_it(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events Em")
    server.send_line("OBJECT ENCODING missing")
    assert heard(listener) == []
    assert server.state.events.misses == 1


def test_nothing_is_told_once_it_is_switched_off(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events KEAmn")
    server.send("CONFIG", "SET", "notify-keyspace-events", "")
    server.send_line("SET k v")
    server.send_line("GET missing")
    assert heard(listener) == []


def test_an_event_of_exec_is_told_at_its_place(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events EA")
    for line in ("MULTI", "SET k v", "PUBLISH __keyevent@0__:between x", "DEL k", "EXEC"):
        server.send_line(line)
    assert heard(listener) == [
        "__keyevent@0__:set k",
        "__keyevent@0__:between x",
        "__keyevent@0__:del k",
    ]


def test_notifications_are_not_logged(server: Any, listener: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events KEA")
    server.send_line("SET k v")
    assert server.logged() == [b"SET k v"]
    assert heard(listener)


def test_every_event_that_a_command_names_is_in_a_class() -> None:
    """An event outside the table would count as generic, whatever it is about."""
    found = set(_named_events())
    assert len(found) > 30
    assert found <= set(CLASS_OF)


def test_each_event_of_penstock_s_own_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "queues.md").read_text("utf-8")
    told = page.partition("## What is told of it\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", told, re.MULTILINE) == OWN.split()
    assert {CLASS_OF[name.encode()] for name in OWN.split()} == {EventClass.STREAM}


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("XADD s DELAY 1 * a b", "xschedule"),
        ("XSCHEDULE s job EVERY 9 * a b", "xschedule"),
        ("XSCHEDULE s there NEXT 9", "xschedule"),
        ("XUNSCHEDULE s NAMES there", "xunschedule"),
        ("XEXPIREAT s 9 1-1", "xexpireat"),
        ("XCFGSET s RETAIN-LENGTH 9", "xcfgset"),
        ("XGROUP CFGSET s g ACTIVE 1", "xgroup-cfgset"),
        ("XGROUP PAUSE s g", "xgroup-cfgset"),
        ("XACK s g 1-1", ""),
        ("XNACK s g FAIL IDS 1 1-1", ""),
    ],
)
def test_words_of_penstock_s_own_tell_an_event(
    server: Any, listener: Any, line: str, event: str
) -> None:
    server.send_line("XADD s 1-1 f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g c STREAMS s >")
    server.send_line("XSCHEDULE s there EVERY 100000 * a b")
    server.send_line("CONFIG SET notify-keyspace-events Et")
    server.send_line(line)
    assert heard(listener) == ([f"__keyevent@0__:{event} s"] if event else [])


def _named_events() -> Iterator[bytes]:
    """The second arguments of all calls of changed() and group_changed() that are written out."""
    for path in (ROOT / "server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("changed", "group_changed") and len(node.args) > 1:
                yield from _bytes_in(node.args[1])


def _bytes_in(expression: ast.expr) -> Iterator[bytes]:
    for part in ast.walk(expression):
        if isinstance(part, ast.Constant) and isinstance(part.value, bytes):
            yield part.value
