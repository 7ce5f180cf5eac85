"""ZSCAN and ZRANDMEMBER: some of the members of a sorted set."""

from __future__ import annotations

from itertools import islice

from protocol.replies import Reply
from server.commands.shared.count_args import count_and_form
from server.commands.shared.scan_args import NOVALUES_OF_HSCAN, ScanOptions, to_cursor
from server.commands.sorted_sets import zset_reply
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, RO, KeyRange
from storage.sorted_sets import score_text
from storage.sorted_sets.sorted_set import SortedSet


@command(
    "ZSCAN",
    arity=-3,
    flags=Flags.READONLY,
    group="sorted-set",
    since="2.8.0",
    complexity="O(1) a page, O(N) for all pages, where N is the number of members.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def zscan(call: Call) -> Reply:
    """Lists the members of a sorted set and their scores, one page for each call.

    ZSCAN key cursor [MATCH pattern] [COUNT count]
    """
    cursor = to_cursor(call.argv[2])
    values = call.db.read(call.argv[1], SortedSet)
    if values is None:
        return [b"0", []]
    options = ScanOptions(Args(call.argv, 3), b"NOVALUES")
    if options.no_values:
        raise NOVALUES_OF_HSCAN
    cursor, page = values.scan(cursor, min(options.count, len(values)))
    found: list[Reply] = []
    for at in range(0, len(page), 2):
        if options.matches(page[at]):
            score = page[at + 1]  # redis has 17 digits here, unless the set is a listpack
            text = b"%.17g" % score if values.pack is None else score_text.text_of(score)
            found += [page[at], text]
    return [b"%d" % cursor, found]


@command(
    "ZRANDMEMBER",
    arity=-2,
    flags=Flags.READONLY,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N*log(M)) where N is the number of members returned and M of all members.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def zrandmember(call: Call) -> Reply:
    """Returns a random member of a sorted set, or several different ones; some twice if count < 0.

    ZRANDMEMBER key [count [WITHSCORES]]
    """
    argv = call.argv
    if len(argv) == 2:
        value = call.db.read(argv[1], SortedSet)
        return None if value is None else next(value.draws(call.db.events.chance))[0]
    count, scores = count_and_form(argv, b"WITHSCORES")
    value = call.db.read(argv[1], SortedSet)
    if value is None or count == 0:
        return []
    out = call.client.out.another()
    in_pairs = out.resp == 3
    if count < 0:
        drawn = islice(value.draws(call.db.events.chance), -count)
        zset_reply.write_pairs(out, drawn, -count, scores, in_pairs)
    else:
        pairs = value.sample(call.db.events.chance, min(count, len(value)))
        zset_reply.write_pairs(out, pairs, len(pairs), scores, in_pairs)
    return out
