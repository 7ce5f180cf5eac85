"""The string commands of several keys: MGET, MSET, MSETNX, MSETEX."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import OK, ErrorReply, Reply
from server.commands.strings import put_options, string_steps
from server.commands.strings.put_options import PutOptions
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT32_MAX, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, INSERT, OW, RO, UPDATE, CountedKeys, KeyRange
from storage.hash_table import fetching
from storage.keyspace.key_lookups import ANY

WRITE = Flags.WRITE | Flags.DENYOOM

BAD_NUMKEYS = ErrorReply("ERR", "invalid numkeys value")
TOO_FEW_PAIRS = ErrorReply("ERR", "wrong number of key-value pairs")


@command(
    "MGET",
    arity=-2,
    flags=Flags.READONLY | Flags.FAST,
    group="string",
    since="1.0.0",
    complexity="O(N) where N is the number of keys to retrieve.",
    keys=KeyRange(RO | ACCESS, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD],
)
def mget(call: Call) -> Reply:
    """Returns the strings at several keys; null where there is none.

    MGET key [key ...]
    """
    out = call.client.out.another()
    out.array(len(call.argv) - 1)
    _write_strings(call, out)
    return out


def _write_strings(call: Call, out: Encoder) -> None:
    """Write the string at each key to *out*, or null."""
    db, argv = call.db, call.argv
    first = 1
    while first < len(argv):
        keys = argv[first : first + fetching.MOST]
        db.fetch(keys)
        for key in keys:
            value = db.read(key, ANY)
            if value is None or type(value) is bytes:
                out.write(value)
            else:
                is_string = type(value) is int or type(value) is bytearray
                out.write(string_steps.text_of(value) if is_string else None)
        first += fetching.MOST


@command(
    "MSET",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.1",
    complexity="O(N) where N is the number of keys to set.",
    keys=KeyRange(OW | UPDATE, last=-1, step=2),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_ALL_SUCCEEDED],
)
def mset(call: Call) -> Reply:
    """Stores strings at several keys.

    MSET key value [key value ...]
    """
    for key, value in _pairs(call, "mset"):
        string_steps.put(call, key, value)
    return OK


@command(
    "MSETNX",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.1",
    complexity="O(N) where N is the number of keys to set.",
    keys=KeyRange(OW | INSERT, last=-1, step=2),
)
def msetnx(call: Call) -> Reply:
    """Stores strings at several keys if none of the keys exists.

    MSETNX key value [key value ...]
    """
    pairs = _pairs(call, "msetnx")
    if any(key in call.db for key, _ in pairs):
        return 0
    for key, value in pairs:
        string_steps.put(call, key, value)
    return 1


@command(
    "MSETEX",
    arity=-4,
    flags=WRITE | Flags.MOVABLEKEYS,
    group="string",
    since="8.4.0",
    complexity="O(N) where N is the number of keys to set.",
    keys=CountedKeys(OW | UPDATE, count_at=1, step=2),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_ALL_SUCCEEDED],
)
def msetex(call: Call) -> Reply:
    """Stores strings at several keys, with one expiry, perhaps only if all or none of them exist.

    MSETEX numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds |
    EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]
    """
    argv = call.argv
    number = to_int(argv[1], BAD_NUMKEYS)
    if not 0 < number <= INT32_MAX:
        raise BAD_NUMKEYS
    end = 2 + 2 * number
    if end > len(argv):
        raise TOO_FEW_PAIRS
    options: PutOptions = put_options.of_msetex(argv, end)
    when_ms = options.when_ms(call.now_ms, "msetex")
    if options.condition is not None:
        for at in range(2, end, 2):
            if (argv[at] in call.db) != (options.condition == put_options.XX):
                return 0
    string_steps.put_all(call, end, when_ms, options.keeps)
    return 1


def _pairs(call: Call, name: str) -> list[tuple[bytes, bytes]]:
    words = call.argv[1:]
    if len(words) % 2:
        raise errors.wrong_arity(name)
    return list(zip(words[::2], words[1::2], strict=True))
