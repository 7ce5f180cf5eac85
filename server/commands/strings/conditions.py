"""The conditions on a string that is there: of SET and DELEX, by its bytes or by its digest."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.strings import string_steps
from storage import xxh3
from storage.keyspace.key_lookups import String

IFEQ, IFNE, IFDEQ, IFDNE = b"IFEQ", b"IFNE", b"IFDEQ", b"IFDNE"
CONDITIONS = frozenset((IFEQ, IFNE, IFDEQ, IFDNE))

DIGEST_SIZE = 16  # hexadecimal digits
NO_DIGEST = ErrorReply("ERR", f"must be exactly {DIGEST_SIZE} hexadecimal characters")


def digest_of(value: String) -> bytes:
    """What DIGEST shows of a string. O(bytes)."""
    return b"%016x" % xxh3.hashed(string_steps.octets_of(value))


def holds(value: String | None, condition: bytes, operand: bytes) -> bool:
    """Whether the string *value* is equal to *operand*, or its digest is; or unequal (IFNE, IFDNE).

    None is equal to nothing, and then *operand* is not looked at. Raises NO_DIGEST for one that is
    not as long as a digest. O(bytes).
    """
    wants_equal = condition in (IFEQ, IFDEQ)
    if value is None:
        return not wants_equal
    if condition in (IFEQ, IFNE):
        if type(value) is bytes:
            text: bytes = value
            return (text == operand) == wants_equal
        return (string_steps.octets_of(value) == operand) == wants_equal
    if len(operand) != DIGEST_SIZE:
        raise NO_DIGEST
    return (digest_of(value) == operand.lower()) == wants_equal
