"""The steps that commands on bits are made of."""

from __future__ import annotations

from server.commands.strings import string_steps
from server.dispatch.call import Call


def set_bit(call: Call, key: bytes, offset: int, bit: int) -> int:
    """Let that bit of the string at *key* be *bit*; return what it was."""
    value = call.db.find_string(key)
    at = offset >> 3
    mask = 0x80 >> (offset & 7)
    size = -1 if value is None else string_steps.length_of(value)
    text = string_steps.padded(call, key, value, at + 1)
    old = 1 if text[at] & mask else 0
    if old != bit:
        text[at] ^= mask
    if old != bit or size <= at:
        call.db.changed(key, b"setbit")
    return old
