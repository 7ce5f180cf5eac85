"""The steps that HyperLogLog commands are made of: read one, and put it back."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from storage import allocation
from storage.keyspace.key_lookups import String
from storage.strings import hyperloglog

NOT_ONE = ErrorReply("WRONGTYPE", "Key is not a valid HyperLogLog string value.")
CORRUPT = ErrorReply("INVALIDOBJ", "Corrupted HLL object detected")


def checked(value: String) -> bytes | bytearray:
    """The bytes of the string *value*, which begins like a HyperLogLog. Raises NOT_ONE."""
    text = string_steps.octets_of(value)
    if not hyperloglog.is_one(text):
        raise NOT_ONE
    return text


def opened(value: String) -> bytearray:
    """The string *value* to be read or changed; itself, if it is a bytearray.

    Raises NOT_ONE, and CORRUPT if it does not have the registers that it should have.
    """
    text = checked(value)
    data = text if type(text) is bytearray else bytearray(text)
    if not hyperloglog.is_whole(data):
        raise CORRUPT
    return data


def store(call: Call, key: bytes, value: String | None, data: bytearray, before: int) -> None:
    """Put *data* in place of *value* at *key*; *before*: the bytes of memory that it had."""
    if value is None:
        call.db.add(key, data)
    elif data is not value:
        call.db.store_string(key, data)
    elif allocation.of_string(data) != before:
        call.db.store_string(key, data, allocation.of_string(data) - before)


def registers_of(data: bytearray) -> bytearray:
    """The registers, a byte each."""
    registers = hyperloglog.no_registers()
    hyperloglog.merge_into(registers, data)
    return registers
