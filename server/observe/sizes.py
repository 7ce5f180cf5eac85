"""Sizes for people: 1.50M."""

from __future__ import annotations


def human(size: int) -> str:
    """*size* bytes in the greatest unit that it has one of: 1.50M."""
    if size < 1024:
        return f"{size}B"
    power = min((size.bit_length() - 1) // 10, len("KMGTP"))
    return f"{size / 1024**power:.2f}{'KMGTP'[power - 1]}"
