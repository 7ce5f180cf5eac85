"""SLOWLOG: shows the commands that took longer than slowlog-log-slower-than."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.observe.command_log import CommandLog
from server.table import errors
from server.table.args import INT64_MAX, to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.LOADING | Flags.STALE
ALL_NODES = [Tip.REQUEST_ALL_NODES, Tip.NONDETERMINISTIC_OUTPUT]

DEFAULT_COUNT = 10
BAD_COUNT = ErrorReply("ERR", "count should be greater than or equal to -1")

container("SLOWLOG", group="server", since="2.2.12", summary="Shows the slow commands.")


@command(
    "SLOWLOG GET",
    arity=-2,
    flags=OPERATOR,
    group="server",
    since="2.2.12",
    complexity="O(N) where N is the number of entries returned",
    tips=ALL_NODES,
    history=[
        ("4.0.0", "The client's address and name."),
        ("8.10.0", "How many arguments the command had."),
    ],
)
def slowlog_get(call: Call) -> Reply:
    """Returns the last entries, the newest first: by default 10, all with -1.

    SLOWLOG GET [count]
    """
    if len(call.argv) > 3:
        raise errors.bad_subcommand("slowlog", call.argv[1])
    most = to_int(call.argv[2], BAD_COUNT) if len(call.argv) == 3 else DEFAULT_COUNT
    if not -1 <= most <= INT64_MAX:
        raise BAD_COUNT
    return list(entries(call.server.slow_log, most))


def entries(log: CommandLog, most: int) -> list[list[Reply]]:
    """The last *most* entries (-1: all) of *log*, as SLOWLOG GET has them."""
    return [
        [
            entry.id,
            entry.time_s,
            entry.amount,
            list(entry.words),
            entry.address.encode("utf-8", "surrogateescape"),
            entry.client_name,
            entry.words_sent,
        ]
        for entry in log.newest(most)
    ]


@command(
    "SLOWLOG LEN",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="2.2.12",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_AGG_SUM, Tip.NONDETERMINISTIC_OUTPUT],
)
def slowlog_len(call: Call) -> Reply:
    """Returns the number of entries.

    SLOWLOG LEN
    """
    return len(call.server.slow_log)


@command(
    "SLOWLOG RESET",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="2.2.12",
    complexity="O(N) where N is the number of entries in the slowlog",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def slowlog_reset(call: Call) -> Reply:
    """Removes all entries.

    SLOWLOG RESET
    """
    call.server.slow_log.clear()
    return OK


container_help("SLOWLOG", group="server", since="6.2.0")
