"""COMMANDLOG: the logs of large requests and of large replies."""

from __future__ import annotations

import pytest

from server.observe.large_commands import request_size

TEXT = "x" * 200
REQUEST = len(b"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$200\r\n") + 202
REPLY = len(b"$200\r\n") + 202


@pytest.fixture
def server(server):
    server.send_line(
        "CONFIG SET commandlog-request-larger-than 150 commandlog-reply-larger-than 150"
    )
    return server


def arrives(server, *words):
    """Have the words come as bytes do: those of the socket are counted before the command runs."""
    argv = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    server.owner.client.received += request_size(argv)
    return server.send(*argv)


def log(server, kind):
    """Of each entry its number, bytes, and words."""
    rows = arrives(server, "COMMANDLOG", "GET", "-1", kind)
    return [(row[0], row[2], row[3][0], len(row)) for row in rows]


def test_a_large_request_is_kept(server):
    arrives(server, "SET", "big", TEXT)
    arrives(server, "STRLEN", "big")
    assert log(server, "large-reply") == []
    assert log(server, "large-request") == [(0, REQUEST, b"SET", 6)]


def test_a_large_reply_is_kept(server):
    arrives(server, "SET", "big", TEXT)
    arrives(server, "GET", "big")
    assert log(server, "large-reply") == [(0, REPLY, b"GET", 6)]


def test_small_commands_that_come_together_are_not_large(server):
    server.owner.client.received += 1000  # of a pipeline
    server.send("SET", "a", "1")
    server.send("SET", "b", "1")
    assert log(server, "large-request") == []


def test_words_are_cut_and_secrets_hidden(server):
    arrives(server, "SET", "big", TEXT)
    arrives(server, "ACL", "SETUSER", "ann", ">" + TEXT)
    words = [row[3] for row in arrives(server, "COMMANDLOG", "GET", "-1", "large-request")]
    assert words[-1] == [b"SET", b"big", b"x" * 128 + b"... (72 more bytes)"]
    assert TEXT[:128].encode() not in words[0][-1]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("CONFIG SET commandlog-large-request-max-len 2", [2, 1]),
        ("CONFIG SET commandlog-large-request-max-len 0", []),
        ("CONFIG SET commandlog-request-larger-than -1", []),
        ("CONFIG SET commandlog-request-larger-than 1000", []),
    ],
)
def test_parameters_hold_for_the_next_command(server, line, kept):
    server.send_line(line)
    for _ in range(3):
        arrives(server, "SET", "big", TEXT)
    assert [entry[0] for entry in log(server, "large-request")] == kept


def test_reset_forgets_one_log(server):
    arrives(server, "SET", "big", TEXT)
    arrives(server, "GET", "big")
    server.send_line("COMMANDLOG RESET large-request")
    assert [len(log(server, kind)) for kind in ("large-request", "large-reply")] == [0, 1]
