"""Channel specs: which of a command's words are channels that its user must have rights on.

PUBLISH channel message            FIRST
SUBSCRIBE channel [channel ...]    CHANNELS
PSUBSCRIBE pattern [pattern ...]   PATTERNS

A command that ends subscriptions needs no rights, and has no spec.
"""

from __future__ import annotations

from typing import NamedTuple


class ChannelSpec(NamedTuple):
    """The word after the name or, with *many*, all words there; *are_patterns*: as PSUBSCRIBE."""

    many: bool = True
    are_patterns: bool = False

    def find(self, argv: list[bytes]) -> list[bytes]:
        """The channels, or the patterns, in *argv*."""
        return argv[1:] if self.many else argv[1:2]


FIRST = ChannelSpec(many=False)
CHANNELS = ChannelSpec()
PATTERNS = ChannelSpec(are_patterns=True)
