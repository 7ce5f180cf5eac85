"""PFDEBUG and PFSELFTEST: look into HyperLogLogs, and test them."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply, Status
from server.commands.strings.hyperloglog_steps import opened, registers_of, store
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, RW, KeyRange
from storage import allocation
from storage.keyspace.key_lookups import STRING, String
from storage.strings import hyperloglog

NO_SUCH_KEY = ErrorReply("ERR", "The specified key does not exist")
NOT_SPARSE = ErrorReply("ERR", "HLL encoding is not sparse")
SELF_TEST_FAILED = "TESTFAILED"

TESTED = 10_000  # elements
TESTED_SPARSE = 500
LONGEST = 3000  # bytes; the default of hll-sparse-max-bytes
MOST_WRONG = 0.05  # of the number of elements: more than six times the standard error


@command(
    "PFDEBUG",
    arity=3,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.ADMIN,
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1), with a high constant time.",
    keys=KeyRange(RW | ACCESS, first=2),
)
def pfdebug(call: Call) -> Reply:
    """Shows the registers or the opcodes of a HyperLogLog, its form, or makes it dense.

    PFDEBUG subcommand key
    """
    _, word, key = call.argv
    value = call.db.find(key, STRING)
    if value is None:
        raise NO_SUCH_KEY
    data = opened(value)
    name = word.upper()
    if name == b"GETREG":
        _make_dense(call, key, value)
        return list(registers_of(data))
    if name == b"DECODE":
        if hyperloglog.is_dense(data):
            raise NOT_SPARSE
        return hyperloglog.description_of(data)
    if name == b"ENCODING":
        return Status(b"dense" if hyperloglog.is_dense(data) else b"sparse")
    if name == b"TODENSE":
        return 1 if _make_dense(call, key, value) else 0
    raise ErrorReply("ERR", f"Unknown PFDEBUG subcommand '{errors.text_of(word)}'")


def _make_dense(call: Call, key: bytes, value: String) -> bool:
    """Make *value*, the HyperLogLog at *key*, dense. False if it is."""
    data = opened(value)
    if hyperloglog.is_dense(data):
        return False
    before = allocation.of_string(data)
    hyperloglog.to_dense(data)
    store(call, key, value, data, before)
    call.db.changed(key, None)
    return True


@command(
    "PFSELFTEST",
    arity=1,
    flags=Flags.ADMIN,
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1), some milliseconds.",
)
def pfselftest(call: Call) -> Reply:
    """Tests that both forms of a HyperLogLog have the same registers, and that it estimates well.

    PFSELFTEST
    """
    sparse, dense = hyperloglog.new(), hyperloglog.new()
    hyperloglog.to_dense(dense)
    for number in range(TESTED):
        if number == TESTED_SPARSE and registers_of(sparse) != registers_of(dense):
            raise ErrorReply(SELF_TEST_FAILED, "The two forms have different registers")
        hyperloglog.add(dense, b"%d" % number, 0)
        if number < TESTED_SPARSE:
            hyperloglog.add(sparse, b"%d" % number, LONGEST)
    found = hyperloglog.estimate(registers_of(dense))
    if abs(found - TESTED) > TESTED * MOST_WRONG:
        raise ErrorReply(SELF_TEST_FAILED, f"{TESTED} elements are estimated as {found}")
    return OK
