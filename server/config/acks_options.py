"""What CLIENT ACKS and the parameter client-acks say: from whom a client's changes need a word.

OFF                        nobody: replies leave at once
2                          two replicas have it
QUORUM FSYNC TIMEOUT 500   a quorum of the replicas has it on disk, or an error comes after 500 ms
"""

from __future__ import annotations

import re
from typing import NamedTuple

QUORUM = 0  # in place of a number of replicas
DEFAULT_TIMEOUT_MS = 5000
MOST = 2**31 - 1
MOST_REPLICAS = 1000

_NUMBER = re.compile(r"[1-9][0-9]{0,9}")


class BadOptions(ValueError):
    """The message is for the user."""


class AcksOptions(NamedTuple):
    """So many replicas, or QUORUM; with *fsync* on their disks; an error after *timeout_ms*."""

    wanted: int
    fsync: bool
    timeout_ms: int

    @property
    def text(self) -> str:
        """As the parameter is written."""
        words = ["quorum" if self.wanted == QUORUM else str(self.wanted)]
        words += ["fsync"] * self.fsync
        return " ".join([*words, "timeout", str(self.timeout_ms)])


def read(words: list[str]) -> AcksOptions | None:
    """What *words* say; None is OFF. Raises BadOptions."""
    first, *rest = [word.lower() for word in words] or [""]
    if first == "off" and not rest:
        return None
    wanted = QUORUM if first == "quorum" else _number(first, MOST_REPLICAS, "a number of replicas")
    fsync, timeout_ms = False, 0
    while rest:
        word = rest.pop(0)
        if word == "fsync" and not fsync:
            fsync = True
        elif word == "timeout" and rest and not timeout_ms:
            timeout_ms = _number(rest.pop(0), MOST, "a time in ms")
        else:
            raise BadOptions("after the number there may be FSYNC, and TIMEOUT with ms")
    return AcksOptions(wanted, fsync, timeout_ms or DEFAULT_TIMEOUT_MS)


def _number(text: str, most: int, what: str) -> int:
    if not _NUMBER.fullmatch(text) or int(text) > most:
        raise BadOptions(f"{what} must be between 1 and {most}")
    return int(text)
