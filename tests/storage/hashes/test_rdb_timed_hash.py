"""Hashes of which fields expire, in an RDB."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.hashes.hash import Hash
from storage.hashes.value_type import HASH
from storage.limits import ListpackLimits
from storage.payload import dump, restore
from storage.rdb.crc64 import crc64

LIMITS = ListpackLimits(512)


def timed_hash(fields: int) -> Hash:
    made = Hash()
    for number in range(fields):
        made.set(b"f%d" % number, b"v%d" % number, LIMITS)
        if number % 3:
            made.expire_at(b"f%d" % number, 1_700_000_000_000 + 7 * number % 50)
    return made


@pytest.mark.parametrize(("fields", "code"), [(1, 16), (2, 25), (500, 25), (2000, 24)])
def test_a_hash_of_which_fields_expire_is_read_as_it_was_written(fields: int, code: int) -> None:
    made = timed_hash(fields)
    payload = dump(made)
    assert payload[0] == code
    back = restore(payload)
    assert (back.encoding, dict(back)) == (made.encoding, dict(made))
    assert [back.expiry(field) for field, _ in back] == [made.expiry(field) for field, _ in back]
    assert dump(made.copy()) == payload


def test_a_table_of_which_no_field_expires_any_more_is_written_as_a_table() -> None:
    made = timed_hash(600)
    for field, _ in list(made):
        made.expire_at(field, -1)
    assert dump(made)[0] == 4


def length(number: int) -> bytes:
    return b"\x81" + number.to_bytes(8, "big")


def payload_of(body: bytes) -> bytes:
    body += (12).to_bytes(2, "little")
    return body + crc64(body).to_bytes(8, "little")


FIRST = (1_700_000_000_000).to_bytes(8, "little")


@pytest.mark.parametrize(
    "body",
    [
        b"\x18" + FIRST + b"\x01",  # no field
        b"\x18" + FIRST + b"\x02" + b"\x01\x01a\x01x" * 2,  # one field twice
        b"\x18" + FIRST + b"\x01" + length(2**48) + b"\x01a\x01x",  # too late
        b"\x18" + FIRST + b"\x01" + length(2**64 - 1) + b"\x01a\x01x",
        b"\x18" + bytes(8) + b"\x01\x01\x01a\x01x",  # at 0
        b"\x18" + b"\xff" * 8 + b"\x01\x01\x01a\x01x",  # before 1970
        b"\x18" + FIRST + length(2**63),  # more than there can be
        b"\x16\x01\x01a\x01x" + bytes(8),
        b"\x16\x01\x01a\x01x" + b"\xfe" + b"\xff" * 7,
        b"\x16\x01\x01a\x01x" + b"\xff" * 7 + b"\x7f",
        b"\x16\x01\x01a\x01x\x05",
        b"\x19" + FIRST,
        b"\x19" + FIRST + b"\x07\x07\x00\x00\x00\x00\x00\xff",  # empty
        b"\x19" + FIRST + b"\x0d\x0d\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xff",  # no times
        b"\x19" + FIRST + b"\x10\x10\x00\x00\x00\x03\x00\x81a\x02\x81b\x02\x81c\x02\xff",
    ],
)
def test_impossible_times_and_forms_are_refused(body: bytes) -> None:
    with pytest.raises(Corrupt):
        restore(payload_of(body))


def test_a_hash_of_valkey_is_read() -> None:
    body = b"\x16\x02\x01a\x01x" + FIRST + b"\x01b\x01y" + b"\xff" * 8
    made = restore(payload_of(body))
    assert list(made) == [(b"a", b"x"), (b"b", b"y")]
    assert (made.expiry(b"a"), made.expiry(b"b")) == (1_700_000_000_000, -1)


def test_the_commands_of_a_rewritten_log_give_the_times() -> None:
    made = timed_hash(3)
    assert list(HASH.commands(b"k", made))[1:] == [
        [b"HPEXPIREAT", b"k", b"%d" % made.expiry(field), b"FIELDS", b"1", field]
        for field, _ in made
        if made.expiry(field) >= 0
    ]
