"""COMMANDLOG of Valkey: the slow log by another name, and those of large requests and replies."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.observe import slowlog
from server.dispatch.call import Call
from server.observe.command_log import CommandLog
from server.table.args import INT64_MAX, to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.LOADING | Flags.STALE
SINCE = "8.1.0"

SLOW = b"SLOW"
LARGE_REQUEST, LARGE_REPLY = b"LARGE-REQUEST", b"LARGE-REPLY"
BAD_TYPE = ErrorReply(
    "ERR", "type should be one of the following: slow, large-request, large-reply"
)

container("COMMANDLOG", group="server", since=SINCE, summary="Shows slow and large commands.")


def _log(call: Call, word: bytes) -> CommandLog:
    """The log that *word* names. Raises ErrorReply."""
    name = word.upper()
    if name == SLOW:
        return call.server.slow_log
    if name == LARGE_REQUEST:
        return call.server.large_commands.requests
    if name == LARGE_REPLY:
        return call.server.large_commands.replies
    raise BAD_TYPE


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
    shown = slowlog.entries(_log(call, call.argv[3]), most)
    return [entry[:-1] for entry in shown]  # Valkey does not tell how many words there were


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
    return len(_log(call, call.argv[2]))


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
    _log(call, call.argv[2]).clear()
    return OK


container_help("COMMANDLOG", group="server", since=SINCE)
