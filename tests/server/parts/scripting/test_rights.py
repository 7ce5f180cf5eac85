"""What the user of a script may not do, the script may not do either."""

from __future__ import annotations

from typing import Any

import pytest

FAILURE = "-ERR ACL failure in script: "


@pytest.fixture
def guest(server: Any) -> Any:
    server.send("ACL", "SETUSER", "u", "on", ">p", "~a*", "%R~r*", "&x*", "+@all", "-set")
    client = server.client()
    client.send("AUTH", "u", "p")
    return client


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        ("'SET', 'a', 1", "User u has no permissions to run the 'set' command"),
        ("'GET', 'b'", "No permissions to access a key"),
        ("'DEL', 'r'", "No permissions to access a key"),
        ("'MGET', 'a', 'b'", "No permissions to access a key"),
        ("'XREADGROUP', 'GROUP', 'STREAMS', 'c', 'STREAMS', 'b', '>'", "No permissions to access"),
        ("'SORT', 'a', 'BY', 'w_*'", "BY option of SORT denied"),
        ("'PUBLISH', 'b', 'x'", "No permissions to access a channel"),
    ],
)
def test_a_script_may_do_no_more_than_its_user(guest: Any, call: str, refusal: str) -> None:
    answer = guest.send("EVAL", f"local r = redis.call({call}) return r", 0)
    assert refusal in answer
    assert answer.startswith("-ERR ")


def test_what_it_may_it_does(guest: Any) -> None:
    guest.send("EVAL", "redis.call('APPEND', 'a', 'x') return redis.call('GET', 'r')", 0)
    assert guest.send("GET", "a") == b"x"


def test_the_keys_of_a_script_are_asked_for_too(guest: Any) -> None:
    refused = "-NOPERM No permissions to access a key"
    assert guest.send("EVAL", "return 1", 1, "b") == refused
    assert guest.send("EVAL", "return 1", 1, "r") == refused
    assert guest.send("EVAL_RO", "return 1", 1, "r") == 1
    assert guest.send("EVAL", "return 1", 2, "a", "ab") == 1


def test_rights_that_are_taken_away_in_a_script_are_gone_at_once(server: Any, guest: Any) -> None:
    """A script cannot change users; another client can, while a transaction waits for EXEC."""
    guest.send("MULTI")
    guest.send("EVAL", "local r = redis.call('APPEND', 'a', 'x') return r", 0)
    server.send("ACL", "SETUSER", "u", "resetkeys")
    answer = guest.send("EXEC")
    assert "ACL failure in script: No permissions to access a key" in str(answer)
    assert server.send("EXISTS", "a") == 0


def test_a_refusal_is_logged_as_a_scripts(server: Any, guest: Any) -> None:
    guest.send("EVAL", "redis.pcall('GET', 'b')", 0)
    entry = server.send("ACL", "LOG")[0]
    fields = dict(zip(entry[::2], entry[1::2], strict=True))
    assert (fields[b"reason"], fields[b"context"]) == (b"key", b"lua")
    assert (fields[b"object"], fields[b"username"]) == (b"b", b"u")


@pytest.mark.parametrize(
    ("call", "may"),
    [
        ("'SET', 'a', '1'", None),
        ("'SET'", None),
        ("'GET', 'a'", 1),
        ("'GET', 'b'", None),
        ("'GET'", 1),
        ("'GET', 'a', 'more'", 1),
        ("'CONFIG', 'GET', 'x'", 1),
    ],
)
def test_acl_check_cmd(guest: Any, call: str, may: int | None) -> None:
    assert guest.send("EVAL", f"return redis.acl_check_cmd({call})", 0) == may


def test_acl_check_cmd_logs_nothing(server: Any, guest: Any) -> None:
    guest.send("EVAL", "return redis.acl_check_cmd('GET', 'b')", 0)
    assert server.send("ACL", "LOG") == []
