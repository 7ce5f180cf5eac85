"""What can be done with a server: which commands it has, and why something is not offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis

from penstock.top.facts import Facts
from penstock.top.server import Server

# Commands that not every server with streams has.
ASKED = ("XREDRIVE", "XNACK", "XSCHEDULED")


@dataclass(frozen=True, slots=True)
class Abilities:
    """Of one server, for one user of this screen."""

    server_name: str = "this server"
    is_penstock: bool = False
    missing: frozenset[str] = frozenset()
    read_only: bool = False

    def why_not(self, *needed: str, writes: bool = True) -> str:
        """Why nothing that needs these commands can be done; empty: it can be tried."""
        if self.read_only and writes:
            return "started with --read-only"
        lacks = [command for command in needed if command in self.missing]
        return f"{self.server_name} has no {lacks[0]}" if lacks else ""


async def abilities_of(server: Server, facts: Facts | None, read_only: bool) -> Abilities:
    """Ask what the server has. Where it may not be asked, everything may be tried. Raises LOST."""
    is_penstock = facts is not None and facts.is_penstock
    name = facts.name if facts is not None else "this server"
    missing = set[str]()
    if not is_penstock:
        missing.add("XGROUP PAUSE")
        answer = await _command_info(server)
        missing.update(command for command, found in zip(ASKED, answer, strict=False) if not found)
    return Abilities(name, is_penstock, frozenset(missing), read_only)


async def _command_info(server: Server) -> list[Any]:
    try:
        found: list[Any] = await server.call("COMMAND", "INFO", *ASKED)
    except redis.ResponseError:
        return []
    return found
