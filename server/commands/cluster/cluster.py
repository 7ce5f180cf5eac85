"""CLUSTER, READONLY, READWRITE and ASKING: this server is not a node of a cluster, and says so.

Clients and tools ask to find that out; the answer is that of a Redis with cluster-enabled no.
"""

from __future__ import annotations

from typing import NamedTuple

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table.command import Flags, command, container
from server.table.documentation import Deprecated, Tip

NO_CLUSTER = ErrorReply("ERR", "This instance has cluster support disabled")

ANYBODY = Flags.STALE
EARLY = Flags.LOADING | Flags.STALE
OPERATOR = Flags.ADMIN | Flags.STALE
CHANGES = OPERATOR | Flags.NO_ASYNC_LOADING
PER_SLOT = "O(N) where N is the number of slots."
PER_NODE = "O(N) where N is the number of nodes."


class Refused(NamedTuple):
    """A subcommand: its syntax, and what it does in a cluster."""

    syntax: str
    arity: int
    flags: Flags
    since: str
    summary: str
    complexity: str = "O(1)"
    varies: bool = False  # its answer changes from call to call
    deprecated: Deprecated | None = None


ROWS = (
    Refused("ADDSLOTS slot [slot ...]", -3, CHANGES, "3.0.0", "Gives slots to a node.", PER_SLOT),
    Refused(
        "ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]", -4, CHANGES, "7.0.0",
        "Gives ranges of slots to a node.", PER_SLOT,
    ),
    Refused("BUMPEPOCH", 2, CHANGES, "3.0.0", "Advances the epoch.", varies=True),
    Refused(
        "COUNT-FAILURE-REPORTS node-id", 3, OPERATOR, "3.0.0",
        "Counts the reports of a failure.", "O(N) where N is the number of reports.", True,
    ),
    Refused("COUNTKEYSINSLOT slot", 3, ANYBODY, "3.0.0", "Counts the keys of a slot."),
    Refused("DELSLOTS slot [slot ...]", -3, CHANGES, "3.0.0", "Takes slots from a node.", PER_SLOT),
    Refused(
        "DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]", -4, CHANGES, "7.0.0",
        "Takes ranges of slots from a node.", PER_SLOT,
    ),
    Refused("FAILOVER [FORCE | TAKEOVER]", -2, CHANGES, "3.0.0", "Makes a replica the master."),
    Refused("FLUSHSLOTS", 2, CHANGES, "3.0.0", "Takes all slots from a node."),
    Refused("FORGET node-id", 3, CHANGES, "3.0.0", "Removes a node."),
    Refused(
        "GETKEYSINSLOT slot count", 4, ANYBODY, "3.0.0", "Lists keys of a slot.",
        "O(N) where N is the number of keys asked for.", True,
    ),
    Refused("HELP", 2, EARLY, "5.0.0", "Lists the subcommands."),
    Refused("INFO", 2, ANYBODY, "3.0.0", "Shows the state of a node.", varies=True),
    Refused(
        "KEYSLOT key", 3, ANYBODY, "3.0.0", "Returns the slot of a key.",
        "O(N) where N is the number of bytes in the key.",
    ),
    Refused("LINKS", 2, ANYBODY, "7.0.0", "Lists the links between nodes.", PER_NODE, True),
    Refused(
        "MEET ip port [cluster-bus-port]", -4, CHANGES, "3.0.0", "Makes two nodes know each other."
    ),
    Refused("MYID", 2, ANYBODY, "3.0.0", "Returns the id of the node."),
    Refused("MYSHARDID", 2, ANYBODY, "7.2.0", "Returns the id of the shard.", varies=True),
    Refused("NODES", 2, ANYBODY, "3.0.0", "Lists the nodes.", PER_NODE, True),
    Refused(
        "REPLICAS node-id", 3, OPERATOR, "5.0.0", "Lists the replicas of a node.", PER_NODE, True
    ),
    Refused("REPLICATE node-id", 3, CHANGES, "3.0.0", "Makes the node a replica of another."),
    Refused(
        "RESET [HARD | SOFT]", -2, OPERATOR | Flags.NOSCRIPT, "3.0.0", "Resets the node.", PER_NODE
    ),
    Refused("SAVECONFIG", 2, CHANGES, "3.0.0", "Saves the configuration of the node."),
    Refused("SET-CONFIG-EPOCH config-epoch", 3, CHANGES, "3.0.0", "Sets the epoch of a new node."),
    Refused(
        "SETSLOT slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>", -4, CHANGES,
        "3.0.0", "Says which node has a slot.",
    ),
    Refused("SHARDS", 2, EARLY, "7.0.0", "Lists the shards.", PER_NODE, True),
    Refused(
        "SLAVES node-id", 3, OPERATOR, "3.0.0", "Lists the replicas of a node.", PER_NODE, True,
        Deprecated("5.0.0", "CLUSTER REPLICAS"),
    ),
    Refused(
        "SLOTS", 2, EARLY, "3.0.0", "Lists the slots and their nodes.", PER_NODE, True,
        Deprecated("7.0.0", "CLUSTER SHARDS"),
    ),
)  # fmt: skip


def _declare(row: Refused) -> None:
    def refused(_call: Call) -> Reply:
        raise NO_CLUSTER

    refused.__doc__ = f"{row.summary} Refused: this server is no node.\n\nCLUSTER {row.syntax}"
    command(
        "CLUSTER " + row.syntax.partition(" ")[0],
        arity=row.arity,
        flags=row.flags,
        group="cluster",
        since=row.since,
        complexity=row.complexity,
        tips=[Tip.NONDETERMINISTIC_OUTPUT] if row.varies else [],
        deprecated=row.deprecated,
    )(refused)


container("CLUSTER", group="cluster", since="3.0.0", summary="Refused: this server is no node.")
for _row in ROWS:
    _declare(_row)


@command(
    "READONLY",
    arity=1,
    flags=EARLY | Flags.FAST,
    group="cluster",
    since="3.0.0",
    categories=["connection"],
)
def readonly(_call: Call) -> Reply:
    """Lets a connection read from a replica in a cluster. Refused: this server is not a node.

    READONLY
    """
    raise NO_CLUSTER


@command(
    "READWRITE",
    arity=1,
    flags=EARLY | Flags.FAST,
    group="cluster",
    since="3.0.0",
    categories=["connection"],
)
def readwrite(_call: Call) -> Reply:
    """Ends READONLY. Refused: this server is not a node.

    READWRITE
    """
    raise NO_CLUSTER


@command(
    "ASKING", arity=1, flags=Flags.FAST, group="cluster", since="3.0.0", categories=["connection"]
)
def asking(_call: Call) -> Reply:
    """Follows a redirection in a cluster. Refused: this server is not a node.

    ASKING
    """
    raise NO_CLUSTER
