"""What clients of a round may know: who else is there, and a stock of commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import server.commands  # noqa: F401  (fills the table)
from fuzz.command_words import CommandWords
from fuzz.socket_requests import encoded

STOCK = 2000  # commands that are drawn for a round
LONG_WAITS = ("client|pause", "wait", "waitaof")  # clients of their own send these
CATASTROPHES = ("flushall", "flushdb", "swapdb", "quit", "reset", "monitor", "acl|log")


@dataclass
class Scene:
    """*ports* of the servers by plain TCP, *tls_ports*, and of *primaries* that lie.

    *at* is the number of the server that a visit is to.
    """

    ports: list[int]
    tls_ports: list[int]
    primaries: list[int]
    stock: list[bytes] = field(default_factory=list)
    at: int = 0

    def pipeline(self, dice: Random, count: int) -> bytes:
        """Any commands of the table, in RESP."""
        return b"".join(dice.choices(self.stock, k=count))


def draw_stock(dice: Random) -> list[bytes]:
    """Commands of all kinds, in RESP. What would end a whole round's data is rare."""
    words = CommandWords(dice)
    stock: list[bytes] = []
    while len(stock) < STOCK:
        argv = words.draw()
        name = b"|".join(argv[:2]).lower().decode("latin-1")
        if name.startswith(LONG_WAITS) or (name.startswith(CATASTROPHES) and dice.random() < 0.9):
            continue
        stock.append(encoded(argv))
    return stock
