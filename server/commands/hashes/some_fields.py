"""HSCAN and HRANDFIELD: some of the fields of a hash."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.hashes import live_fields
from server.commands.shared.count_args import count_and_form
from server.commands.shared.scan_args import ScanOptions, to_cursor
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, RO, KeyRange
from storage.hashes.hash import NO_FIELDS, Hash


@command(
    "HSCAN",
    arity=-3,
    flags=Flags.READONLY,
    group="hash",
    since="2.8.0",
    complexity="O(1) a page, O(N) for all pages, where N is the number of fields.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("7.4.0", "The NOVALUES option.")],
)
def hscan(call: Call) -> Reply:
    """Lists the fields of a hash and their values, one page for each call.

    HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES]
    """
    cursor = to_cursor(call.argv[2])
    value = call.db.read(call.argv[1], Hash)
    if value is None:
        return [b"0", []]
    options = ScanOptions(Args(call.argv, 3), b"NOVALUES")
    cursor, page = value.scan(cursor, min(options.count, len(value)))
    dead = live_fields.dead_fields(call, value)
    found: list[Reply] = []
    for at in range(0, len(page), 2):
        if page[at] not in dead and options.matches(page[at]):
            found += page[at : at + 1] if options.no_values else page[at : at + 2]
    return [b"%d" % cursor, found]


@command(
    "HRANDFIELD",
    arity=-2,
    flags=Flags.READONLY,
    group="hash",
    since="6.2.0",
    complexity="O(N) where N is the number of fields returned.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def hrandfield(call: Call) -> Reply:
    """Returns a random field of a hash, or several different ones; repeats some if count < 0.

    HRANDFIELD key [count [WITHVALUES]]
    """
    argv = call.argv
    if len(argv) == 2:
        value, dead = _live(call)
        return None if value is None else next(value.draws(call.db.events.chance, dead))[0]
    count, with_values = count_and_form(argv, b"WITHVALUES")
    value, dead = _live(call)
    if value is None or count == 0:
        return []
    out = call.client.out.another()
    if count < 0:
        _write_pairs(
            out, islice(value.draws(call.db.events.chance, dead), -count), -count, with_values
        )
    else:
        pairs = value.sample(call.db.events.chance, min(count, len(value)), dead)
        _write_pairs(out, pairs, len(pairs), with_values)
    return out


def _live(call: Call) -> tuple[Hash | None, frozenset[bytes]]:
    """The hash, and the expired fields that are still in it; None if it has no others.

    Expired fields are removed, too, unless writes are paused.
    """
    value: Hash | None = call.db.read(call.argv[1], Hash)
    if value is None:
        return None, NO_FIELDS
    dead = live_fields.dead_fields(call, value)
    live_fields.expire(call, call.argv[1], value, dead)
    dead = live_fields.dead_fields(call, value)
    return (value if len(value) > len(dead) else None), dead


def _write_pairs(
    out: Encoder, pairs: Iterable[tuple[bytes, bytes]], count: int, with_values: bool
) -> None:
    """Write fields, or pairs of a field and its value: flat in RESP2, nested in RESP3."""
    nested = with_values and out.resp == 3
    out.array(2 * count if with_values and not nested else count)
    for field, text in pairs:
        if nested:
            out.array(2)
        out.bulk(field)
        if with_values:
            out.bulk(text)
        if out.overflown:  # no more of it will be sent
            break
