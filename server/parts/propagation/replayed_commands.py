"""Which commands are run again: those that an AOF holds, and that a primary sends.

They are changes, and what belongs to them: SELECT, transactions, signs of life. Before Redis 7.0
scripts were logged and sent as such, with SCRIPT LOAD and FLUSH. An AOF may still hold them; a
primary's are not run, since a script may keep a replica busy for ever.

All else would let an AOF or a primary end the server, or turn it into something else.
"""

from __future__ import annotations

from server.client.origin import LOG
from server.table.command import Command, Flags

CHANGES = int(Flags.WRITE | Flags.MAY_REPLICATE)
READONLY = int(Flags.READONLY)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)

COMPANIONS = frozenset(
    ("ping", "select", "multi", "exec", "replconf", "script|load", "script|flush")
)


def is_replayed(command: Command, origin: int) -> bool:
    """Whether *command* is run when it comes from *origin*, the AOF or a primary."""
    if command.name in COMPANIONS:
        return True
    if command.flags & RUNS_SCRIPTS:
        return bool(origin & LOG)
    return bool(command.flags & (CHANGES | READONLY if origin & LOG else CHANGES))
