"""What has been closed lives until the turn of the loop ends, as Redis frees clients later.

A command can close its own client, or another one: by CLIENT KILL, an eviction, a limit, a socket
that turns out to be reset. Methods of that client's connection and transport may be running then.
They hold each other; but a fault there would be a use of freed memory. So the code that closes a
socket keeps its parts here, and the turn lets go of them when none of their methods can be running.
"""

from __future__ import annotations

_parts: list[object] = []


def keep(part: object) -> None:
    """Keep *part*, of a connection that is closed now, until the turn ends."""
    _parts.append(part)


def let_go() -> None:
    """The turn has ended: let go of what was closed in it."""
    if _parts:
        _parts.clear()
