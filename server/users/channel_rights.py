"""Which channels a selector allows: to publish to them, and to subscribe to them."""

from __future__ import annotations

from server.users import bad_rule
from server.users.bad_rule import BadRule, has_blanks
from storage import glob


class ChannelRights:
    """Patterns of channels. *are_full*: all channels are allowed."""

    __slots__ = ("_patterns", "are_full")

    def __init__(self, are_full: bool) -> None:
        self.are_full = are_full
        self._patterns: dict[bytes, None] = {}  # an ordered set

    def copy(self) -> ChannelRights:
        other = ChannelRights(self.are_full)
        other._patterns = dict(self._patterns)
        return other

    def allow(self, name: bytes, is_pattern: bool) -> bool:
        """Whether the channel *name* is allowed; a pattern only if it is given word for word.

        O(patterns).
        """
        if self.are_full:
            return True
        if is_pattern:
            return name in self._patterns
        return any(glob.match(pattern, name) for pattern in self._patterns)

    def set_all(self, allow: bool) -> None:
        """``allchannels``, or ``resetchannels``."""
        self.are_full = allow
        self._patterns = {}

    def add_pattern(self, rule: bytes) -> None:
        """``&pattern``. Raises BadRule."""
        if self.are_full:
            raise BadRule(bad_rule.CHANNELS_NEEDLESS)
        if has_blanks(rule):
            raise BadRule(bad_rule.SYNTAX)
        self._patterns[rule[1:]] = None

    def description(self) -> bytes:
        """The patterns: ``&news:* &mail``."""
        if self.are_full:
            return b"&*"
        return b" ".join(b"&" + pattern for pattern in self._patterns)
