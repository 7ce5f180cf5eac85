"""What is said to the server of confirmations and offsets, and what its answers mean."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

NOT_CONFIRMED = "NOTCONFIRMED"  # begins the error of what was executed, and not confirmed in time
# The same, as pipelines of redis-py raise it; those for asyncio show a tuple. The server's words
# have no quotes or brackets: what another error quotes of a command is not taken for them.
_IN_PIPELINE = re.compile(
    r"Command # \d+ \(.*\) of pipeline caused error: "
    r"(NOTCONFIRMED [^'\"()]*|\('NOTCONFIRMED [^'\"()]*',\))",
    re.DOTALL,
)


class Offset(NamedTuple):
    """A place in the history of a server's data: its name, and bytes since it began."""

    history: str
    offset: int


class Behind(Exception):
    """The replica has not come so far in the given time."""


def acks_words(replicas: int | str, fsync: bool, timeout_ms: int | None) -> list[str]:
    """CLIENT ACKS with a number of *replicas*, "quorum" or "off".

    With *fsync*: on the disks of the replicas and of the primary.
    """
    words = ["CLIENT", "ACKS", str(replicas)]
    if fsync:
        words.append("FSYNC")
    if timeout_ms is not None:
        words += ["TIMEOUT", str(timeout_ms)]
    return words


def offset_in(reply: Any) -> Offset:
    """The answer to CLIENT OFFSET."""
    name, offset = reply
    return Offset(name.decode() if isinstance(name, bytes) else name, int(offset))


def wait_words(offset: Offset, timeout_ms: int) -> list[str | int]:
    """WAITOFFSET."""
    return ["WAITOFFSET", offset.history, offset.offset, timeout_ms]


def check_wait(reply: Any, offset: Offset) -> None:
    """The answer to WAITOFFSET. Raises Behind if it is that time is up."""
    if not int(reply):
        raise Behind(f"not yet at {offset.offset}")


def is_unconfirmed(error: Exception) -> bool:
    """Whether *error* says that the command was executed, and not confirmed: it may be kept yet.

    Pipelines raise it with the command before it.
    """
    text = str(error)
    return text.startswith(NOT_CONFIRMED) or bool(_IN_PIPELINE.fullmatch(text))
