"""The passwords of a user: only their SHA-256 hashes are kept."""

from __future__ import annotations

import re
from hashlib import sha256

from server.users import bad_rule
from server.users.bad_rule import BadRule

_HASH = re.compile(rb"[0-9a-f]{64}")


def hash_of(password: bytes) -> bytes:
    """The SHA-256 of *password*, in hexadecimal digits."""
    return sha256(password).hexdigest().encode()


class Passwords:
    """Any of them lets the user in; with *none_needed* (``nopass``) anything does."""

    __slots__ = ("hashes", "none_needed")

    def __init__(self) -> None:
        self.none_needed = False
        self.hashes: dict[bytes, None] = {}  # an ordered set

    def copy(self) -> Passwords:
        other = Passwords()
        other.none_needed = self.none_needed
        other.hashes = dict(self.hashes)
        return other

    def accept(self, password: bytes) -> bool:
        """Whether *password* lets the user in. The time taken tells nothing of the passwords."""
        from hmac import compare_digest  # noqa: PLC0415  (the start does not need it)

        given = hash_of(password)
        matches = [compare_digest(given, kept) for kept in self.hashes]
        return self.none_needed or any(matches)

    def forget_all(self, none_needed: bool) -> None:
        """``nopass``, or ``resetpass``, after which nobody is let in without a new password."""
        self.none_needed = none_needed
        self.hashes = {}

    def add_hash(self, hash_: bytes) -> None:
        """``>password`` or ``#hash``. Raises BadRule if it is not a hash."""
        _check(hash_)
        self.hashes[hash_] = None
        self.none_needed = False

    def remove_hash(self, hash_: bytes) -> None:
        """``<password`` or ``!hash``. Raises BadRule if there is none."""
        _check(hash_)
        if hash_ not in self.hashes:
            raise BadRule(bad_rule.NO_SUCH_PASSWORD)
        del self.hashes[hash_]


def _check(hash_: bytes) -> None:
    if not _HASH.fullmatch(hash_):
        raise BadRule(bad_rule.NO_HASH)
