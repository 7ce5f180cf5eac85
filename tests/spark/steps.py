"""Steps at which a test disturbs what it watches: some that differ, or all of them.

PENSTOCK_ALL_STEPS=1 takes all, which needs several times as long, and tries properties with more
examples.
"""

from __future__ import annotations

import os
from itertools import pairwise

from tests.worth import rounds

ALL = bool(os.environ.get("PENSTOCK_ALL_STEPS"))


def examples(many: int, usual: int) -> int:
    """How many examples of a property are tried: usually some, on request *many*."""
    return many if ALL else rounds(usual)


def command_of(request: bytes | memoryview) -> str:
    """The name of the first command in a request, for the name of a step."""
    return bytes(request[:64]).split(b"\r\n", 3)[2].decode()


def chosen(names: list[str], *, all_of_them: bool = ALL) -> list[int]:
    """Numbers of steps, from 1, of which *names* tells the kinds, in order.

    They are the first of each kind that follows each other kind, the second of those, and the last.
    """
    if all_of_them:
        return list(range(1, len(names) + 1))
    found: dict[tuple[str, str], list[int]] = {}
    for number, pair in enumerate(pairwise(["", *names]), 1):
        found.setdefault(pair, []).append(number)
    some = {number for numbers in found.values() for number in numbers[:2]}
    return sorted(some | {len(names)})
