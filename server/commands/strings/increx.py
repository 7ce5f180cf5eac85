"""INCREX: counts between bounds, with an expiry."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.strings import string_steps
from server.commands.strings.increx_numbers import Adder, FloatAdder, IntAdder, Sum
from server.commands.strings.increx_options import IncrexOptions
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ACCESS, RW, UPDATE, KeyRange
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_lookups import STRING


@command(
    "INCREX",
    arity=-2,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.FAST,
    group="string",
    since="8.8.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def increx(call: Call) -> Reply:
    """Adds to a number, unless that leads out of bounds; returns it and what was added.

    INCREX key [BYFLOAT float | BYINT integer] [LBOUND lowerbound] [UBOUND upperbound] [SATURATE]
    [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]
    [ENX]
    """
    options = IncrexOptions(call.argv)
    by_float = options.by_float
    adder: Adder = FloatAdder(options) if by_float else IntAdder(options)
    when_ms = options.when_ms(call.now_ms)
    key = call.argv[1]
    value = call.db.find(key, STRING)
    total = adder.added_to(b"0" if value is None else string_steps.text_of(value))
    if total.new is not None:
        keeps = options.keeps and value is not None and call.db.expiry(key) != NO_EXPIRY
        if keeps or (when_ms == NO_EXPIRY and not options.persists):
            _put(call, value is None, total.new, by_float, b"KEEPTTL")
        elif when_ms == NO_EXPIRY:
            _put(call, value is None, total.new, by_float, b"")
            if call.db.persist(key):
                call.db.changed(key, b"persist", changes=0)
        elif when_ms > call.now_ms:
            _put(call, value is None, total.new, by_float, b"PXAT", when_ms)
        elif value is not None:
            call.db.remove(key)
            lazily = call.server.config.lazyfree_lazy_expire
            call.db.changed(key, b"del", changes=1, log=(b"UNLINK" if lazily else b"DEL", key))
    return _reply(call, total, by_float)


def _put(
    call: Call, is_new: bool, text: bytes, by_float: bool, option: bytes, when_ms: int = NO_EXPIRY
) -> None:
    """Put the number *text*; it is logged as SET with *option* and what that says."""
    db, key = call.db, call.argv[1]
    value = text if by_float else int(text)
    if is_new:
        db.add(key, value)
    else:
        db.store_string(key, value)
    log = [b"SET", key, text]
    if option:
        log.append(option)
    if when_ms != NO_EXPIRY:
        log.append(b"%d" % when_ms)
        db.expire_at(key, when_ms)
    db.changed(key, b"incrbyfloat" if by_float else b"incrby", changes=1, log=log)
    if when_ms != NO_EXPIRY:
        db.changed(key, b"expire", changes=0)


def _reply(call: Call, total: Sum, by_float: bool) -> Reply:
    """The number and the difference. Floats have more digits than a double."""
    texts = (total.old if total.new is None else total.new, total.difference)
    if not by_float:
        return [int(text) for text in texts]
    out: Encoder = call.client.out.another()
    out.array(2)
    for text in texts:
        if out.resp == 3:
            out.raw(b",%b\r\n" % text)
        else:
            out.bulk(text)
    return out
