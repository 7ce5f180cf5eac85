"""Globs as servers match them, for names that a server tells without matching them."""

from __future__ import annotations

import re
from functools import lru_cache

ANY = {"*": ".*", "?": "."}


@lru_cache(maxsize=64)
def expression_of(glob: str) -> re.Pattern[str]:
    """The regular expression that matches the same names."""
    parts, at = [], 0
    while at < len(glob):
        here = glob[at]
        end = end_of_class(glob, at) if here == "[" else at + 1
        if here == "\\" and at + 1 < len(glob):
            end = at + 2
            parts.append(re.escape(glob[at + 1]))
        elif here == "[":
            parts.append(class_of(glob[at + 1 : end - 1]))
        else:
            parts.append(ANY.get(here, re.escape(here)))
        at = end
    return re.compile("".join(parts), re.DOTALL)


def end_of_class(glob: str, at: int) -> int:
    """Where the class that begins at *at* has ended; one that is not closed ends with the glob."""
    at += 1
    while at < len(glob) and glob[at] != "]":
        at += 2 if glob[at] == "\\" else 1
    return min(at, len(glob)) + 1


def class_of(inside: str) -> str:
    """The expression for a class such as ``^a-z``."""
    negated = inside.startswith("^")
    chosen, at = [], int(negated)
    while at < len(inside):
        if inside[at] == "\\" and at + 1 < len(inside):
            chosen.append(re.escape(inside[at + 1]))
            at += 2
        elif inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            low, high = sorted((inside[at], inside[at + 2]))
            chosen.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            chosen.append(re.escape(inside[at]))
            at += 1
    if not chosen:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{''.join(chosen)}]"
