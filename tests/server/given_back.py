"""What is left of memory when all keys are deleted: an empty database keeps some for new ones."""

from __future__ import annotations

from storage import allocation

KEPT = 1000  # bytes


def is_given_back(at_start: int) -> bool:
    """Whether no more than that is used besides what was used *at_start*."""
    return 0 <= allocation.used_bytes() - at_start <= KEPT
