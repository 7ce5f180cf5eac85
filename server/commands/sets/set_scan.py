"""SSCAN: the members of a set, page by page."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.shared.scan_args import NOVALUES_OF_HSCAN, ScanOptions, to_cursor
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, RO, KeyRange
from storage.sets.member_set import MemberSet


@command(
    "SSCAN",
    arity=-3,
    flags=Flags.READONLY,
    group="set",
    since="2.8.0",
    complexity="O(1) a page, O(N) for all pages, where N is the number of members.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def sscan(call: Call) -> Reply:
    """Lists the members of a set, one page for each call; a small set is one page.

    SSCAN key cursor [MATCH pattern] [COUNT count]
    """
    cursor = to_cursor(call.argv[2])
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    if values is None:
        return [b"0", []]
    options = ScanOptions(Args(call.argv, 3), b"NOVALUES")
    if options.no_values:
        raise NOVALUES_OF_HSCAN
    following, page = values.scan(cursor, min(options.count, values.size()))
    return [b"%d" % following, [member for member in page if options.matches(member)]]
