"""Commands that the console does not run, each with its reason.

A session has one connection, which all its views share, and which answers each command once. What
would make something else of it is refused here, by the command and not by its spelling: one that
rename-command has renamed is found, too.

Commands that wait (BLPOP, XREAD BLOCK, WAIT) are run: their waits end at once, as in a transaction.
"""

from __future__ import annotations

from server.dispatch.command_lookup import CommandLookup
from server.dispatch.dispatcher import SPOKEN_BY_BROWSERS

SHARED = "all views of the console share its connection"
IN_ONE = 'send the commands of a transaction together, with "transaction": true'
LISTENS = "it would turn the connection into one that only listens"
IS_REPLICA = "it would turn the connection into a replica's"
PUSHES = "nobody would hear what it has the server send"

REASONS = {
    "auth": "log out, and log in as somebody else",
    "hello": "log out, and log in as somebody else",
    "reset": SHARED,
    "quit": "log out instead",
    "client|reply": "each command is answered",
    "client|tracking": PUSHES,
    "client|caching": PUSHES,
    "multi": IN_ONE,
    "exec": IN_ONE,
    "discard": IN_ONE,
    "watch": SHARED,
    "unwatch": SHARED,
    "monitor": LISTENS,
    "subscribe": LISTENS,
    "psubscribe": LISTENS,
    "ssubscribe": LISTENS,
    "unsubscribe": LISTENS,
    "punsubscribe": LISTENS,
    "sunsubscribe": LISTENS,
    "psync": IS_REPLICA,
    "sync": IS_REPLICA,
    "replconf": IS_REPLICA,
}


def refusal(lookup: CommandLookup, argv: list[bytes]) -> str | None:
    """Why the console does not run *argv*; None if it does."""
    if argv[0].lower() in SPOKEN_BY_BROWSERS:  # the server would take it for a web page's attack
        return f"ERR unknown command '{argv[0].decode()}'"
    command = lookup.find_any(argv)
    if command is None or command.name not in REASONS:
        return None
    name = command.name.upper().replace("|", " ")
    return f"ERR {name} is not run in the console: {REASONS[command.name]}"
