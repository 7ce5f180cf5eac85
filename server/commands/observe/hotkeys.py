"""HOTKEYS: counts which keys take most time and most bytes, while a session is on."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.observe.hot_keys import Session
from server.observe.top_counts import TopCounts
from server.table import errors
from server.table.args import INT32_MAX, Args, to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT
SINCE = "8.6.0"

IN_PROGRESS = ErrorReply("ERR", "hotkey tracking session already in progress")
STOP_FIRST = ErrorReply("ERR", "hotkey tracking session in progress, stop tracking first")
NO_METRICS = ErrorReply("ERR", "METRICS parameter is required")
BAD_METRICS = ErrorReply("ERR", "METRICS count must be > 0 and <= 2")
OTHER_METRICS = ErrorReply("ERR", "METRICS count does not match number of metric types provided")
UNKNOWN_METRICS = ErrorReply("ERR", "METRICS no valid metrics passed. Supported: CPU|NET")
CPU_TWICE = ErrorReply("ERR", "METRICS CPU defined more than once!")
NET_TWICE = ErrorReply("ERR", "METRICS NET defined more than once!")
BAD_COUNT = ErrorReply("ERR", "COUNT must be between 1 and 64")
BAD_DURATION = ErrorReply("ERR", "DURATION must be between 1 and 1000000")
BAD_SAMPLE = ErrorReply("ERR", "SAMPLE ratio must be positive")
NO_CLUSTER = ErrorReply("ERR", "SLOTS parameter cannot be used in non-cluster mode")

MOST_METRICS = 2
MOST_KEYS = 64
MOST_SECONDS = 1_000_000
DEFAULT_COUNT = 10
LAST_SLOT = 16383

container(
    "HOTKEYS", group="server", since=SINCE, summary="Shows which keys take most time and bytes."
)


class Metrics:
    """What a session counts: ``METRICS count [CPU] [NET]``."""

    __slots__ = ("cpu", "net")

    def __init__(self, args: Args) -> None:
        """Raises ErrorReply. As in Redis, a word that is no metric counts as one."""
        self.cpu = self.net = False
        if args.left() < 2 or not args.skip(b"METRICS"):
            raise NO_METRICS
        count = to_int(args.take(), BAD_METRICS)
        if not 0 < count <= MOST_METRICS:
            raise BAD_METRICS
        if args.left() < count:
            raise OTHER_METRICS
        for _ in range(count):
            self._take(args.take().upper())
        if not (self.cpu or self.net):
            raise UNKNOWN_METRICS

    def _take(self, word: bytes) -> None:
        if word == b"CPU":
            if self.cpu:
                raise CPU_TWICE
            self.cpu = True
        elif word == b"NET":
            if self.net:
                raise NET_TWICE
            self.net = True


@command(
    "HOTKEYS START",
    arity=-2,
    flags=OPERATOR,
    group="server",
    since=SINCE,
    tips=[Tip.REQUEST_SPECIAL],
)
def hotkeys_start(call: Call) -> Reply:
    """Begins to count which keys take most of the commands' time, and of the bytes sent.

    HOTKEYS START METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio]
    """
    if call.server.hot_keys.is_on:
        raise IN_PROGRESS
    args = Args(call.argv, 2)
    metrics = Metrics(args)
    count, duration_s, sample = DEFAULT_COUNT, 0, 1
    while args.left():
        word = args.take().upper()
        if not args.left():
            raise errors.SYNTAX
        if word == b"COUNT":
            count = _within(args, MOST_KEYS, BAD_COUNT)
        elif word == b"DURATION":
            duration_s = _within(args, MOST_SECONDS, BAD_DURATION)
        elif word == b"SAMPLE":
            sample = _within(args, INT32_MAX, BAD_SAMPLE)
        elif word == b"SLOTS":
            raise NO_CLUSTER
        else:
            raise errors.SYNTAX
    call.server.hot_keys.start(metrics.cpu, metrics.net, count, duration_s, sample)
    call.server.command_times.follow_hot_keys()
    return OK


def _within(args: Args, most: int, error: ErrorReply) -> int:
    number = args.take_positive(error)
    if number > most:
        raise error
    return number


@command(
    "HOTKEYS STOP", arity=2, flags=OPERATOR, group="server", since=SINCE,
    tips=[Tip.REQUEST_SPECIAL],
)  # fmt: skip
def hotkeys_stop(call: Call) -> Reply:
    """Ends the counting; the figures stay.

    HOTKEYS STOP
    """
    call.server.hot_keys.figures()
    if not call.server.hot_keys.stop():
        return None
    call.server.command_times.follow_hot_keys()
    return OK


@command(
    "HOTKEYS RESET", arity=2, flags=OPERATOR, group="server", since=SINCE,
    tips=[Tip.REQUEST_SPECIAL],
)  # fmt: skip
def hotkeys_reset(call: Call) -> Reply:
    """Forgets the figures.

    HOTKEYS RESET
    """
    call.server.hot_keys.figures()
    if call.server.hot_keys.is_on:
        raise STOP_FIRST
    call.server.hot_keys.reset()
    return OK


@command(
    "HOTKEYS GET",
    arity=2,
    flags=OPERATOR,
    group="server",
    since=SINCE,
    complexity="O(K) where K is the number of keys that are kept.",
    tips=[Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_SPECIAL, Tip.RESPONSE_SPECIAL],
)
def hotkeys_get(call: Call) -> Reply:
    """Returns what was counted since the start: of all commands, and of the keys with most.

    HOTKEYS GET
    """
    session = call.server.hot_keys.figures()
    if session is None:
        return None
    is_on = call.server.hot_keys.is_on
    until_ms = call.now_ms if is_on else session.ended_ms
    report: dict[bytes, Reply] = {
        b"tracking-active": int(is_on),
        b"sample-ratio": session.sample,
        b"selected-slots": [[0, LAST_SLOT]],
        b"all-commands-all-slots-us": session.ns // 1000,
        b"net-bytes-all-commands-all-slots": session.bytes,
        b"collection-start-time-unix-ms": session.started_ms,
        b"collection-duration-ms": max(0, until_ms - session.started_ms),
        **_totals(session),
    }
    if session.by_ns is not None:
        report[b"by-cpu-time-us"] = _keys(session.by_ns, session.count, 1000)
    if session.by_bytes is not None:
        report[b"by-net-bytes"] = _keys(session.by_bytes, session.count, 1)
    return [report]


def _totals(session: Session) -> dict[bytes, Reply]:
    totals: dict[bytes, Reply] = {}
    if session.by_ns is not None:
        user_ms, system_ms = session.cpu_ms()
        totals[b"total-cpu-time-user-ms"] = user_ms
        totals[b"total-cpu-time-sys-ms"] = system_ms
    if session.by_bytes is not None:
        totals[b"total-net-bytes"] = session.bytes
    return totals


def _keys(counts: TopCounts, most: int, unit: int) -> Reply:
    """The keys that have most, each with how much, in *unit*; without those that have less."""
    shown: list[Reply] = []
    for key, amount in counts.greatest(most):
        if amount >= unit:
            shown += [key, int(amount / unit)]
    return shown


container_help("HOTKEYS", group="server", since="8.6.1")
