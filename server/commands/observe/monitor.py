"""MONITOR."""

from __future__ import annotations

from protocol.replies import NO_REPLY, OK, ErrorReply, Reply
from server.client.client import MONITORING
from server.dispatch.call import Call
from server.table.command import Flags, command

NOT_INSIDE = ErrorReply("ERR", "MONITOR isn't allowed for DENY BLOCKING client")


@command(
    "MONITOR",
    arity=1,
    flags=Flags.ADMIN | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE,
    group="server",
    since="1.0.0",
    complexity="",
    history=[
        ("6.0.0", "AUTH is shown, without its words."),
        ("6.2.0", "RESET ends it."),
        ("6.2.4", "AUTH, HELLO, EVAL, EVAL_RO, EVALSHA and EVALSHA_RO are shown again."),
    ],
)
def monitor(call: Call) -> Reply:
    """Shows every command that the server runs, until the connection is closed or reset.

    MONITOR
    """
    if call.is_inside():
        raise NOT_INSIDE
    if call.client.flags & MONITORING:
        return NO_REPLY
    call.server.monitors.add(call.client)
    return OK
