"""XINFO STREAMS: the streams of a database, page by page, each with its figures."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.shared.scan_args import EVERYTHING, to_cursor
from server.dispatch.call import Call
from server.parts.stream_survey.figures import GroupFigures, StreamFigures, figures_of
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import READ
from storage.glob import match
from storage.stream.stream import Stream

DEFAULT_PAGE = 10
MOST_GROUPS = 2000  # after which a page ends: defends others against a pause


class Options:
    """``[MATCH pattern] [COUNT count] [GROUPS]``, in any order; the last one counts."""

    __slots__ = ("count", "pattern", "with_groups")

    def __init__(self, args: Args) -> None:
        """Take all that is left of *args*. Raises SYNTAX."""
        self.pattern = EVERYTHING
        self.count = DEFAULT_PAGE
        self.with_groups = False
        while args.left():
            word = args.take_word(b"MATCH", b"COUNT", b"GROUPS")
            if word == b"GROUPS":
                self.with_groups = True
            elif word == b"MATCH":
                self.pattern = args.take()
            elif word == b"COUNT":
                self.count = args.take_int()  # what is no number is refused as SCAN refuses it
                if self.count < 1:
                    raise errors.SYNTAX
            else:
                raise errors.SYNTAX

    def matches(self, name: bytes) -> bool:
        """Whether *name* matches the pattern."""
        return self.pattern == EVERYTHING or match(self.pattern, name)


@command(
    "XINFO STREAMS",
    arity=-3,
    flags=Flags.READONLY,
    group="stream",
    since="0.1.0",
    complexity="O(N) a page, where N is the number of streams that are looked at, and of their "
    "groups. The first calls also gather the names, from 2000 keys each.",
    tips=[Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_SPECIAL, Tip.RESPONSE_SPECIAL],
)
def xinfo_streams(call: Call) -> Reply:
    """Shows all streams with their figures, one page for each call: those that the user may read.

    XINFO STREAMS cursor [MATCH pattern] [COUNT count] [GROUPS]

    A page has the next cursor, 0 for the end, and a map for each stream. It may be empty, as one of
    SCAN. With GROUPS each stream also has a list of its groups. What cannot be known is null.
    """
    cursor = to_cursor(call.argv[2])
    options = Options(Args(call.argv, 3))
    index = call.server.stream_index.of(call.db)
    shown: list[Reply] = []
    groups = 0
    end, page = index.page(cursor, options.count)
    for behind, key in page:
        stream = call.db.peek(key) if options.matches(key) and call.may_use(key, READ) else None
        if type(stream) is Stream:
            figures = figures_of(stream, call.db.side.get(key), call.now_ms)
            shown.append(_shown(call, key, figures, options.with_groups))
            groups += len(figures.groups)
            if groups >= MOST_GROUPS:
                end = behind
                break
    return [b"%d" % index.next_page(end), shown]


def _shown(call: Call, key: bytes, figures: StreamFigures, with_groups: bool) -> Reply:
    policy = call.server.stream_policies.in_force(call.db, key)
    words: list[Reply] = [] if policy is None else [*policy.effective_words()]
    report: dict[bytes, Reply] = {
        b"key": key,
        b"length": figures.length,
        b"bytes": figures.bytes,
        b"entries-added": figures.entries_added,
        b"last-generated-id": figures.last_id.encode(),
        b"groups": len(figures.groups),
        b"consumers": figures.consumers,
        b"pending": figures.pending,
        b"lag": figures.lag,
        b"oldest-pending-ms": figures.oldest_pending_ms,
        b"redelivered": figures.redelivered,
        b"dead-lettered": figures.dead_lettered,
        b"scheduled": figures.scheduled,
        b"policy": words,
    }
    if with_groups:
        report[b"group-list"] = [_shown_group(group) for group in figures.groups]
    return report


def _shown_group(group: GroupFigures) -> Reply:
    policy = group.policy
    words: list[Reply] = [] if policy is None else [*policy.words()]
    return {
        b"name": group.name,
        b"consumers": group.consumers,
        b"pending": group.pending,
        b"lag": group.lag,
        b"last-delivered-id": group.last_id.encode(),
        b"oldest-pending-ms": group.oldest_pending_ms,
        b"redelivered": group.redelivered,
        b"dead-lettered": group.dead_lettered,
        b"paused": int(policy is not None and policy.paused),
        b"dead-letter": (policy.dead_letter or None) if policy is not None else None,
        b"policy": words,
    }
