"""The aux fields that say where in a history a snapshot was made."""

import pytest

from server.parts.persistence.stored_history import StoredHistory, history_in

ID = "0123456789abcdef0123456789abcdef01234567"


def test_what_was_written_is_read():
    stored = StoredHistory(ID, 12345, 3)
    assert history_in({b"redis-ver": b"7.4.0", **stored.aux()}) == stored


@pytest.mark.parametrize(
    "changed",
    [
        {b"repl-id": b"short"},
        {b"repl-id": ID.encode() + b"\n"},
        {b"repl-offset": b"-1"},
        {b"repl-offset": b"9" * 19},
        {b"repl-offset": b""},
        {b"repl-stream-db": b"x"},
    ],
)
def test_nonsense_is_no_history(changed):
    assert history_in({**StoredHistory(ID, 5, 0).aux(), **changed}) is None


def test_a_snapshot_without_the_fields_has_none():
    assert history_in({b"redis-ver": b"7.0.15"}) is None
    assert history_in({b"repl-id": ID.encode()}) is None
