"""MEMORY: what the data take, and what the process holds."""

from __future__ import annotations

from protocol.replies import OK, Reply, Verbatim
from server.dispatch.call import Call
from server.observe import memory_report
from server.observe.memory import resident_bytes
from server.observe.memory_facts import MemoryFigures
from server.process import memory_reserve, program_pages
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip
from server.table.keys import RO, KeyRange
from storage.keyspace.key_table import PLACE_BYTES

NO_FLAGS = Flags(0)
ALL_SHARDS = [Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_SPECIAL]
BY_SIZE = "Depends on how much memory is allocated, could be slow"

NO_STATS = b"Stats not supported for the current allocator"
DEFAULT_SAMPLES = 5

container("MEMORY", group="server", since="4.0.0", summary="Shows what memory is used for.")


@command(
    "MEMORY USAGE",
    arity=-3,
    flags=Flags.READONLY,
    group="server",
    since="4.0.0",
    complexity="O(N) where N is the number of samples.",
    keys=KeyRange(RO, first=2),
    categories=(),
)
def memory_usage(call: Call) -> Reply:
    """Returns how many bytes a key takes with its value; of many elements, some are looked at.

    MEMORY USAGE key [SAMPLES count]
    """
    key, samples = call.argv[2], DEFAULT_SAMPLES
    args = Args(call.argv, 3)
    while args.left():
        if not args.take_word(b"SAMPLES"):
            raise errors.SYNTAX
        samples = args.take_int()
        if samples < 0:
            raise errors.SYNTAX
    value = call.db.peek(key)
    return None if value is None else call.db.bytes_of(key, samples)


@command("MEMORY STATS", arity=2, flags=NO_FLAGS, group="server", since="4.0.0", tips=ALL_SHARDS)
def memory_stats(call: Call) -> Reply:
    """Returns what the memory is used for. The allocator's figures are those of the process.

    MEMORY STATS
    """
    state = call.server
    now = MemoryFigures(state.memory, state.databases, state.config, call.now_ms // 1000)
    used, held = now.used, max(now.held, 1)
    replication = state.replication.memory()
    databases: dict[bytes, Reply] = {
        b"db.%d" % db.index: {
            b"overhead.hashtable.main": len(db) * PLACE_BYTES,
            b"overhead.hashtable.expires": len(db.expiring) * PLACE_BYTES,
        }
        for db in state.databases
        if len(db)
    }
    return {
        b"peak.allocated": now.peak,
        b"total.allocated": used,
        b"startup.allocated": now.startup,
        b"replication.backlog": replication.backlog,
        **_absent("replica.fullsync.buffer"),
        b"clients.slaves": replication.unsent,
        b"clients.normal": now.clients,
        **_absent("cluster.links"),
        b"aof.buffer": now.log,
        b"lua.caches": state.scripting.memory_of_scripts()[1],
        b"functions.caches": state.scripting.memory_of_functions()[1],
        b"script.VMs": state.scripting.vm_memory,
        **databases,
        b"overhead.db.hashtable.lut": sum(db.bytes_of_slots() for db in state.databases),
        **_absent("overhead.db.hashtable.rehashing"),
        b"overhead.total": now.overhead,
        **_absent("db.dict.rehashing.count"),
        b"keys.count": now.keys,
        b"keys.bytes-per-key": now.since_start // now.keys if now.keys else 0,
        b"dataset.bytes": now.dataset,
        b"dataset.percentage": 100 * now.dataset / now.since_start,
        b"peak.percentage": 100 * used / max(now.peak, 1),
        b"allocator.allocated": used,
        b"allocator.active": held,
        b"allocator.resident": held,
        **_absent("allocator.muzzy"),
        b"allocator-fragmentation.ratio": held / max(used, 1),
        b"allocator-fragmentation.bytes": held - used,
        b"allocator-rss.ratio": 1.0,
        **_absent("allocator-rss.bytes"),
        b"rss-overhead.ratio": now.resident / held,
        b"rss-overhead.bytes": now.in_files,
        b"fragmentation": now.resident / max(used, 1),
        b"fragmentation.bytes": now.resident - used,
    }


def _absent(*names: str) -> dict[bytes, Reply]:
    """Figures of parts that this server has not: all are 0."""
    return {name.encode(): 0 for name in names}


@command("MEMORY DOCTOR", arity=2, flags=NO_FLAGS, group="server", since="4.0.0", tips=ALL_SHARDS)
def memory_doctor(call: Call) -> Reply:
    """Tells in words what the figures say, and what may be done about it.

    MEMORY DOCTOR
    """
    state = call.server
    memory = state.memory
    report = memory_report.report(
        memory.used(),
        memory.peak,
        resident_bytes(),
        state.config.maxmemory,
        memory.clients,
        len(state.clients),
    )
    return Verbatim(report.encode())


@command(
    "MEMORY PURGE",
    arity=2,
    flags=NO_FLAGS,
    group="server",
    since="4.0.0",
    complexity=BY_SIZE,
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def memory_purge(_call: Call) -> Reply:
    """Gives back to the system the memory that is kept for the next large values.

    MEMORY PURGE
    """
    memory_reserve.drop_spare()
    program_pages.trim_heap()
    return OK


@command(
    "MEMORY MALLOC-STATS",
    arity=2,
    flags=NO_FLAGS,
    group="server",
    since="4.0.0",
    complexity=BY_SIZE,
    tips=ALL_SHARDS,
)
def memory_malloc_stats(_call: Call) -> Reply:
    """Says that the allocator has no statistics of its own.

    MEMORY MALLOC-STATS
    """
    return NO_STATS


container_help("MEMORY", group="server", since="4.0.0")
