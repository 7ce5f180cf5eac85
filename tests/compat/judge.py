"""Compares the answers of two servers to the same commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from tests.compat.differences import alike
from tests.compat.resp import WAITING, Reply, quoted, show


class Judge:
    """Follows one client's commands, so that replies inside EXEC's are compared by command."""

    def __init__(self, oracle: str, *, at_random: bool = False) -> None:
        self.oracle = oracle
        self.at_random = at_random
        self.queued: list[list[bytes]] = []

    def agree(self, command: list[bytes], ours: Reply, theirs: Reply) -> bool:
        """Whether the two replies to *command* are equal, except for the allowed differences."""
        name = command[0].upper() if command and WAITING not in (ours, theirs) else b""
        if name == b"EXEC":
            queued, self.queued = self.queued, []
            return self._agree_on_each(queued, ours, theirs)
        if theirs == ("+", b"QUEUED"):
            self.queued.append(command)
        elif name in {b"MULTI", b"DISCARD", b"RESET"} and theirs[0] == "+":
            self.queued = []
        return alike(command, ours, theirs, self.oracle, at_random=self.at_random)

    def _agree_on_each(self, queued: list[list[bytes]], ours: Reply, theirs: Reply) -> bool:
        if not isinstance(ours[1], list) or not isinstance(theirs[1], list):
            return alike([b"EXEC"], ours, theirs, self.oracle)
        return (
            ours[0] == theirs[0]
            and len(ours[1]) == len(theirs[1]) == len(queued)
            and all(map(alike, queued, ours[1], theirs[1], repeat(self.oracle)))
        )


def script_line(command: Sequence[bytes]) -> str:
    """*command* as a line of a script."""
    return " ".join(_word(word) for word in command)


def _word(word: bytes) -> str:
    plain = word and all(33 <= byte < 127 and byte not in b"\"'\\#" for byte in word)
    text = word.decode() if plain else quoted(word)
    return text if len(text) < 200 else f"{text[:100]}...({len(word)} bytes)"


def disagreement(ours: Reply, theirs: Reply) -> Iterator[str]:
    """Lines that show both replies."""
    yield f"  Penstock: {show(ours)}"
    yield f"  Redis:    {show(theirs)}"
