"""WAITOFFSET and CLIENT OFFSET, on a server without sockets."""

from __future__ import annotations

import pytest

from tests.server.conftest import NOTHING


def test_a_primary_has_come_as_far_as_it_says(server) -> None:
    name, offset = server.send("CLIENT", "OFFSET")
    assert server.send("WAITOFFSET", name, offset, 0) == 1
    server.send("SET", "k", "v")
    _, later = server.send("CLIENT", "OFFSET")
    assert later > offset
    assert server.send("WAITOFFSET", name, later, 0) == 1


def test_the_end_of_history_is_not_told_amid_a_transaction(server) -> None:
    """What it had changed before was not counted yet, though it is answered with it."""
    server.send("MULTI")
    server.send("SET", "k", "v")
    refused = "-ERR Command not allowed inside a transaction"
    assert server.send("CLIENT", "OFFSET") == refused
    assert str(server.send("EXEC")).startswith("-EXECABORT")


def test_time_is_up(server) -> None:
    name, offset = server.send("CLIENT", "OFFSET")
    assert server.send("WAITOFFSET", name, offset + 1, 50) is NOTHING
    server.advance(50)
    assert server.owner.reply() == 0
    assert server.send("WAITOFFSET", "f" * 40, 0, 50) is NOTHING
    server.advance(50)
    assert server.owner.reply() == "-NOHISTORY The data here are of another history."


def test_in_a_transaction_it_does_not_wait(server) -> None:
    name, offset = server.send("CLIENT", "OFFSET")
    server.send("MULTI")
    server.send("WAITOFFSET", name, offset + 1, 0)
    assert server.send("EXEC") == [0]


def test_a_history_that_went_on_under_another_name(server) -> None:
    name, offset = server.send("CLIENT", "OFFSET")
    server.state.replication.history.branch("b" * 40)
    assert server.send("WAITOFFSET", name, offset, 0) == 1
    error = f"-NOHISTORY That history ended at offset {offset}, before this."
    assert server.send("WAITOFFSET", name, offset + 1, 0) == error


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("x", "-1", "0"), "-ERR value is out of range, must be positive"),
        (("x", "y", "0"), "-ERR value is not an integer or out of range"),
        (("x", "0", "-1"), "-ERR timeout is negative"),
    ],
)
def test_wrong_words(server, words, error) -> None:
    assert server.send("WAITOFFSET", *words) == error
