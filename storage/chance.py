"""A source of chance: fast, and the same for the same seed. It protects nothing.

Source: xorshift64*, https://www.jstatsoft.org/article/view/v008i14 and https://arxiv.org/abs/1402.6246
"""

from __future__ import annotations

MASK_64 = 2**64 - 1
MULTIPLIER = 0x2545F4914F6CDD1D


class Chance:
    """Numbers at random."""

    __slots__ = ("_state",)

    def __init__(self, seed: int = 1) -> None:
        self._state = (seed & MASK_64) or 1

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1, which is at most 2**32; each is as likely."""
        state = self._state
        state ^= state >> 12
        state ^= (state << 25) & MASK_64
        state ^= state >> 27
        self._state = state
        upper = ((state * MULTIPLIER) & MASK_64) >> 32
        return (upper * limit) >> 32
