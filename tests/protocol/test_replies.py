"""The classes of reply values: Status, ErrorReply and Pairs."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Pairs, Status


def test_statuses_of_the_same_text_are_equal() -> None:
    assert Status(b"OK") == OK
    assert hash(Status(b"OK")) == hash(OK)
    assert Status(b"KO") != OK
    assert OK != b"OK"


def test_the_repr_of_a_status_shows_its_text() -> None:
    assert repr(OK) == "Status(b'OK')"


def test_the_text_of_an_error_is_its_line() -> None:
    error = ErrorReply("WRONGTYPE", "Operation against a key")
    assert str(error) == "WRONGTYPE Operation against a key"
    assert (error.code, error.text) == ("WRONGTYPE", "Operation against a key")


def test_pairs_are_a_dict() -> None:
    assert Pairs({b"a": 1}) == {b"a": 1}
