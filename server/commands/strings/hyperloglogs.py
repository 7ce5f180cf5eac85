"""The HyperLogLog commands: they estimate how many different elements were added.

A HyperLogLog is a string; storage/strings/hyperloglog.py has its bytes, which are Redis's.
"""

from __future__ import annotations

from protocol.replies import OK, Reply
from server.commands.strings import hyperloglog_steps
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ACCESS, INSERT, RO, RW, KeyRange
from storage import allocation
from storage.keyspace.key_lookups import STRING
from storage.strings import hyperloglog

WRITE = Flags.WRITE | Flags.DENYOOM


@command(
    "PFADD",
    arity=-2,
    flags=WRITE | Flags.FAST,
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1) for each element.",
    keys=KeyRange(RW | INSERT),
)
def pfadd(call: Call) -> Reply:
    """Adds elements to a HyperLogLog, made if needed; returns whether its registers changed.

    PFADD key [element [element ...]]
    """
    key = call.argv[1]
    value = call.db.find(key, STRING)
    data = hyperloglog.new() if value is None else hyperloglog_steps.opened(value)
    before = allocation.of_string(data)
    most = call.server.node_limits.hyperloglog
    changes = 1 if value is None else 0
    for element in call.argv[2:]:
        changes += hyperloglog.add(data, element, most)
    if not changes:
        return 0
    hyperloglog.mark_stale(data)
    hyperloglog_steps.store(call, key, value, data, before)
    call.db.changed(key, b"pfadd", changes=changes)
    return 1


@command(
    "PFCOUNT",
    arity=-2,
    flags=Flags.READONLY | Flags.MAY_REPLICATE,
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1) for one key whose elements were counted before; else O(N) of N keys.",
    keys=KeyRange(RW | ACCESS, last=-1),
)
def pfcount(call: Call) -> Reply:
    """Estimates how many different elements were added to HyperLogLogs, taken together.

    PFCOUNT key [key ...]
    """
    keys = call.argv[1:]
    if len(keys) == 1:
        return _count_one(call, keys[0])
    registers = hyperloglog.no_registers()
    for key in keys:
        value = call.db.read(key, STRING)
        if value is not None:
            hyperloglog.merge_into(registers, hyperloglog_steps.opened(value))
    return hyperloglog.estimate(registers)


def _count_one(call: Call, key: bytes) -> Reply:
    """The estimate that is kept with the value; if it is stale, a new one is made and kept."""
    value = call.db.read(key, STRING)
    if value is None:
        return 0
    kept: int = hyperloglog.kept_estimate(hyperloglog_steps.checked(value))
    if kept >= 0:
        return kept
    data = hyperloglog_steps.opened(value)
    number: int = hyperloglog.estimate(hyperloglog_steps.registers_of(data))
    hyperloglog.keep_estimate(data, number)
    hyperloglog_steps.store(call, key, value, data, allocation.of_string(data))
    call.db.changed(key, None, changes=1, log=(b"PFCOUNT", key))
    return number


@command(
    "PFMERGE",
    arity=-2,
    flags=WRITE,
    group="hyperloglog",
    since="2.8.9",
    complexity="O(N) to merge N HyperLogLogs, but with high constant times.",
    keys=(KeyRange(RW | ACCESS | INSERT), KeyRange(RO | ACCESS, first=2, last=-1)),
    types={"destkey": "key"},
)
def pfmerge(call: Call) -> Reply:
    """Adds to a HyperLogLog, made if needed, what was added to others.

    PFMERGE destkey [sourcekey [sourcekey ...]]
    """
    registers = hyperloglog.no_registers()
    any_dense = False
    for key in call.argv[1:]:
        value = call.db.read(key, STRING)
        if value is not None:
            data = hyperloglog_steps.opened(value)
            any_dense = any_dense or hyperloglog.is_dense(data)
            hyperloglog.merge_into(registers, data)
    key = call.argv[1]
    value = call.db.find(key, STRING)
    data = hyperloglog.new() if value is None else hyperloglog_steps.opened(value)
    before = allocation.of_string(data)
    if any_dense:
        hyperloglog.to_dense(data)
    hyperloglog.raise_registers(data, registers, call.server.node_limits.hyperloglog)
    hyperloglog.mark_stale(data)
    hyperloglog_steps.store(call, key, value, data, before)
    call.db.changed(key, b"pfadd")
    return OK
