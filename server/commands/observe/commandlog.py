"""COMMANDLOG of Valkey: another name of the slow log, and two logs that are empty here.

Valkey also logs commands whose request or reply is large. Here these are not looked at.
"""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.observe import slowlog
from server.dispatch.call import Call
from server.table.args import INT64_MAX, to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.LOADING | Flags.STALE
SINCE = "8.1.0"

SLOW = b"SLOW"
OTHERS = (b"LARGE-REQUEST", b"LARGE-REPLY")
BAD_TYPE = ErrorReply(
    "ERR", "type should be one of the following: slow, large-request, large-reply"
)

container("COMMANDLOG", group="server", since=SINCE, summary="Shows the slow commands, as Valkey.")


def _is_slow(word: bytes) -> bool:
    """Whether *word* names the slow log. Raises ErrorReply if it names no log."""
    name = word.upper()
    if name != SLOW and name not in OTHERS:
        raise BAD_TYPE
    return name == SLOW


@command(
    "COMMANDLOG GET",
    arity=4,
    flags=OPERATOR,
    group="server",
    since=SINCE,
    complexity="O(N) where N is the number of entries returned",
    tips=[Tip.REQUEST_ALL_NODES, Tip.NONDETERMINISTIC_OUTPUT],
)
def commandlog_get(call: Call) -> Reply:
    """Returns the last entries of a log, the newest first; all with -1.

    COMMANDLOG GET count <SLOW | LARGE-REQUEST | LARGE-REPLY>
    """
    most = to_int(call.argv[2], slowlog.BAD_COUNT)
    if not -1 <= most <= INT64_MAX:
        raise slowlog.BAD_COUNT
    if not _is_slow(call.argv[3]):
        return []
    shown: list[Reply] = []
    for entry in slowlog.entries(call, most):
        assert isinstance(entry, list)
        shown.append(entry[:-1])  # Valkey does not tell how many words there were
    return shown


@command(
    "COMMANDLOG LEN",
    arity=3,
    flags=OPERATOR,
    group="server",
    since=SINCE,
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_AGG_SUM, Tip.NONDETERMINISTIC_OUTPUT],
)
def commandlog_len(call: Call) -> Reply:
    """Returns the number of entries of a log.

    COMMANDLOG LEN <SLOW | LARGE-REQUEST | LARGE-REPLY>
    """
    return len(call.server.slow_log) if _is_slow(call.argv[2]) else 0


@command(
    "COMMANDLOG RESET",
    arity=3,
    flags=OPERATOR,
    group="server",
    since=SINCE,
    complexity="O(N) where N is the number of entries in the log",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def commandlog_reset(call: Call) -> Reply:
    """Removes all entries of a log.

    COMMANDLOG RESET <SLOW | LARGE-REQUEST | LARGE-REPLY>
    """
    if _is_slow(call.argv[2]):
        call.server.slow_log.clear()
    return OK


container_help("COMMANDLOG", group="server", since=SINCE)
