"""The table of keys whose last change is not confirmed."""

from __future__ import annotations

import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.parts.replication.unconfirmed_keys import UnconfirmedKeys

MOST_KEYS = 100_000  # as the table has it: no attribute of a compiled module


def note(keys: UnconfirmedKeys, offset: int, line: str, db: int = 0) -> None:
    keys.note([(db, [word.encode() for word in line.split()])], offset)


def test_a_key_has_the_offset_of_its_last_change() -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, "SET a 1")
    note(keys, 20, "XADD b 1-1 f v")
    note(keys, 30, "set a 2")
    note(keys, 40, "SET a 3", db=2)
    assert [keys.offset_of(0, key) for key in (b"a", b"b", b"c")] == [30, 20, 0]
    assert keys.offset_of(2, b"a") == 40
    assert keys.offset_of(9, b"a") == 0
    assert keys.last == 40


def test_commands_of_several_keys_and_of_subcommands() -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, "MSET a 1 b 2")
    note(keys, 20, "XGROUP CREATE s g 0")
    assert [keys.offset_of(0, key) for key in (b"a", b"b", b"s")] == [10, 10, 20]


@pytest.mark.parametrize("line", ["FLUSHALL", "SWAPDB 0 1", "NEW-NAME-OF-A-COMMAND a 1"])
def test_what_names_no_keys_changes_all(line: str) -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, "SET a 1")
    note(keys, 20, line)
    note(keys, 30, "SET b 1")
    assert [keys.offset_of(0, key) for key in (b"a", b"b", b"c")] == [20, 30, 20]


@pytest.mark.parametrize("line", ["MOVE m 1", "copy a m DB 1", "COPY a m REPLACE DB 1"])
def test_what_changes_another_database_changes_all(line: str) -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, "SET m 1")
    note(keys, 20, line)
    assert keys.offset_of(1, b"m") == 20


@pytest.mark.parametrize("line", ["COPY a b", "COPY a b REPLACE", "SORT a BY w_* GET o_* STORE b"])
def test_what_stays_in_its_database_changes_its_keys(line: str) -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, line)
    assert [keys.offset_of(0, key) for key in (b"b", b"other")] == [10, 0]


def test_a_reader_that_is_sent_to_replicas_has_changed_its_key() -> None:
    """PFCOUNT keeps its estimate in the value."""
    keys = UnconfirmedKeys()
    note(keys, 10, "PFCOUNT h")
    assert [keys.offset_of(0, key) for key in (b"h", b"other")] == [10, 0]


def test_messages_change_no_data() -> None:
    keys = UnconfirmedKeys()
    note(keys, 10, "PUBLISH news x")
    assert keys.last == 0


def test_what_is_confirmed_goes_and_the_rest_stays() -> None:
    keys = UnconfirmedKeys()
    for n in range(600):
        note(keys, 10 + n, f"SET a{n} 1")
    keys.confirmed(300)
    for n in range(600, 1200):
        note(keys, 10 + n, f"SET a{n} 1")
    assert len(keys) == 1200
    keys.confirmed(609)  # the first half as a whole
    assert len(keys) in (600, 1200)
    keys.confirmed(1000)
    assert keys.offset_of(0, b"a1199") == 1209
    keys.confirmed(1209)
    assert len(keys) == 0


def test_too_many_keys_are_all_keys() -> None:
    keys = UnconfirmedKeys()
    for n in range(MOST_KEYS + 1):
        keys.note([(0, [b"SET", b"%d" % n, b"1"])], n + 1)
    assert len(keys) == 0
    assert keys.offset_of(0, b"never seen") == MOST_KEYS + 1


def test_the_same_keys_again_and_again_take_no_more_memory() -> None:
    keys = UnconfirmedKeys()
    for n in range(MOST_KEYS + 10):
        keys.note([(0, [b"SET", b"%d" % (n % 5), b"1"])], n + 1)
    assert len(keys) == 5
    assert keys.offset_of(0, b"other") == 0
