"""LATENCY: what has kept clients waiting, and how long commands take."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply, Verbatim
from server.dispatch.call import Call
from server.observe import latency_report, sparkline
from server.table import errors
from server.table.command import TABLE, Command, Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
ALL_NODES = [Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_ALL_NODES, Tip.RESPONSE_SPECIAL]

container("LATENCY", group="server", since="2.8.13", summary="Shows what takes long.")


@command("LATENCY LATEST", arity=2, flags=OPERATOR, group="server", since="2.8.13", tips=ALL_NODES)
def latency_latest(call: Call) -> Reply:
    """Returns of each event the time of the last sample, its ms, and the ms of the worst one.

    LATENCY LATEST
    """
    return [
        [event, series.samples[-1].time_s, series.samples[-1].ms, series.worst_ms]
        for event, series in call.server.latency_events.series.items()
    ]


@command("LATENCY HISTORY", arity=3, flags=OPERATOR, group="server", since="2.8.13", tips=ALL_NODES)
def latency_history(call: Call) -> Reply:
    """Returns the samples of an event: the time of each, and its ms.

    LATENCY HISTORY event
    """
    series = call.server.latency_events.series.get(call.argv[2])
    return [] if series is None else [[sample.time_s, sample.ms] for sample in series.samples]


@command(
    "LATENCY RESET",
    arity=-2,
    flags=OPERATOR,
    group="server",
    since="2.8.13",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_AGG_SUM],
)
def latency_reset(call: Call) -> Reply:
    """Forgets the samples of some events, or of all; returns how many events had any.

    LATENCY RESET [event [event ...]]
    """
    events = call.server.latency_events
    names = call.argv[2:] or list(events.series)
    return sum(events.reset(name) for name in names)


@command("LATENCY GRAPH", arity=3, flags=OPERATOR, group="server", since="2.8.13", tips=ALL_NODES)
def latency_graph(call: Call) -> Reply:
    """Draws the samples of an event.

    LATENCY GRAPH event
    """
    event = errors.text_of(call.argv[2])
    series = call.server.latency_events.series.get(call.argv[2])
    if series is None:
        raise ErrorReply("ERR", f"No samples available for event '{event}'")
    return Verbatim(sparkline.graph(event, series, call.now_ms // 1000).encode())


@command("LATENCY DOCTOR", arity=2, flags=OPERATOR, group="server", since="2.8.13", tips=ALL_NODES)
def latency_doctor(call: Call) -> Reply:
    """Tells in words what the samples say, and what may be done about it.

    LATENCY DOCTOR
    """
    return Verbatim(latency_report.report(call.server.latency_events).encode())


@command(
    "LATENCY HISTOGRAM",
    arity=-2,
    flags=OPERATOR,
    group="server",
    since="7.0.0",
    complexity="O(N) where N is the number of commands with latency information being retrieved",
    tips=ALL_NODES,
)
def latency_histogram(call: Call) -> Reply:
    """Returns how many calls of some commands, or of all, took how long.

    LATENCY HISTOGRAM [command [command ...]]
    """
    names = call.argv[2:]
    rows: list[Command | None] = [TABLE.named(name) for name in names] if names else list(TABLE)
    every = [each for row in rows if row for each in (row, *row.subcommands.values())]
    stats = call.server.command_stats
    called = [(row.name, stats.of(row).latencies) for row in every if stats.of(row).latencies.calls]
    out = call.client.out.another()
    out.map(len(called))  # a command that is named twice is there twice, which no dict could hold
    for name, latencies in called:
        steps: dict[int, int] = dict(latencies.cumulative())
        out.bulk(name.encode())
        out.write({b"calls": latencies.calls, b"histogram_usec": steps})  # type: ignore[dict-item]
    return out


container_help("LATENCY", group="server", since="2.8.13")
