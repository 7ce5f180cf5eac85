"""On which keys a selector gives which rights.

    ~jobs:*         to read and to write
    %R~cache:*      to read
    %W~log:*        to write

What a command does with a key says which it needs: to return, copy or compare the value takes the
right to read; to add to it, change it or delete some of it, the right to write. To ask for a
length or a type, any right on the key will do.
"""

from __future__ import annotations

from server.table.keys import READ, WRITE
from server.users import bad_rule
from server.users.bad_rule import BadRule, has_blanks
from storage import glob

BOTH = READ | WRITE
LETTERS = {ord("R"): READ, ord("r"): READ, ord("W"): WRITE, ord("w"): WRITE}
SIGNS = {READ: b"%R~", WRITE: b"%W~", BOTH: b"~"}

TILDE = ord("~")


class KeyRights:
    """Patterns of keys, and the rights on the keys that match. *are_full*: all rights on all."""

    __slots__ = ("_patterns", "are_full")

    def __init__(self) -> None:
        self.are_full = False
        self._patterns: dict[bytes, int] = {}

    def copy(self) -> KeyRights:
        other = KeyRights()
        other.are_full = self.are_full
        other._patterns = dict(self._patterns)
        return other

    def allow(self, key: bytes, rights: int) -> bool:
        """Whether one pattern gives all of *rights* on *key*. O(patterns)."""
        if self.are_full:
            return True
        for pattern, given in self._patterns.items():
            if given & rights == rights and glob.match(pattern, key):
                return True
        return False

    def allow_all(self, rights: int) -> bool:
        """Whether there are *rights* on all keys, whatever their names."""
        return self.are_full or self._patterns.get(b"*", 0) & rights == rights

    def set_all(self, allow: bool) -> None:
        """``allkeys``, or ``resetkeys``."""
        self.are_full = allow
        self._patterns = {}

    def add_pattern(self, rule: bytes) -> None:
        """``~pattern``, ``%R~pattern``. Raises BadRule."""
        if self.are_full:
            raise BadRule(bad_rule.KEYS_NEEDLESS)
        rights, pattern = (BOTH, rule[1:]) if rule[0] == TILDE else _read(rule)
        if has_blanks(pattern):
            raise BadRule(bad_rule.SYNTAX)
        self._patterns[pattern] = self._patterns.get(pattern, 0) | rights

    def description(self) -> bytes:
        """The patterns, with their signs: ``~jobs:* %R~cache:*``."""
        if self.are_full:
            return b"~*"
        return b" ".join(SIGNS[rights] + pattern for pattern, rights in self._patterns.items())


def _read(rule: bytes) -> tuple[int, bytes]:
    """The rights and the pattern of ``%RW~pattern``. Without a tilde the pattern is empty."""
    rights = 0
    for at in range(1, len(rule)):
        if rule[at] == TILDE and rights:
            return rights, rule[at + 1 :]
        right = LETTERS.get(rule[at], 0)
        if not right or rights & right:
            raise BadRule(bad_rule.SYNTAX)
        rights |= right
    if not rights:
        raise BadRule(bad_rule.SYNTAX)
    return rights, b""
