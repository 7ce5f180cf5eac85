"""LATENCY DOCTOR: what the samples say, in words, and what may be done about it."""

from __future__ import annotations

from server.observe.latency_events import LatencyEvents, Series

OFF = (
    "Nothing is measured: latency-monitor-threshold is 0. Set it to a number of milliseconds, for"
    ' example by "CONFIG SET latency-monitor-threshold 100", and come back after the next spike.\n'
)
HEALTHY = "No event has taken {threshold} ms or longer since the last reset. All is well.\n"

_SLOW_COMMANDS = (
    "SLOWLOG GET shows slow commands with their words; slowlog-log-slower-than sets the threshold.",
    "Commands on large values hold up everybody: use the SCAN family, and UNLINK in place of DEL.",
)
ADVICE = {
    b"command": _SLOW_COMMANDS,
    b"fast-command": (
        "Commands that are always fast took long: is the machine busy, or does it swap?",
    ),
    b"fork": (
        "A fork copies the page table, so it takes long with much memory: see latest_fork_usec in"
        " INFO, and save more rarely, or on another machine.",
    ),
    b"expire-cycle": ("Many keys expire at once: spread their times, or lower hz.",),
    b"eviction-cycle": ("maxmemory is reached: much must go before a write can run.",),
}


def report(events: LatencyEvents) -> str:
    """The report, for people."""
    if not events.threshold_ms and not events.series:
        return OFF
    if not events.series:
        return HEALTHY.format(threshold=events.threshold_ms)
    lines = ["These events have kept clients waiting:", ""]
    for number, (event, series) in enumerate(events.series.items(), 1):
        lines.append(f"{number}. {event.decode()}: {_figures(series)}")
    advice = [text for event in events.series for text in ADVICE.get(event, ())]
    if advice:
        lines += ["", "What may help:", ""]
        lines += [f"- {text}" for text in dict.fromkeys(advice)]
    return "\n".join(lines) + "\n"


def _figures(series: Series) -> str:
    times = [sample.ms for sample in series.samples]
    mean = sum(times) / len(times)
    deviation = sum(abs(ms - mean) for ms in times) / len(times)
    first_s, last_s = series.samples[0].time_s, series.samples[-1].time_s
    apart = f", one in {(last_s - first_s) / (len(times) - 1):.0f} s" if len(times) > 1 else ""
    return (
        f"{len(times)} spikes (mean {mean:.0f} ms, mean deviation {deviation:.0f} ms{apart})."
        f" The worst took {series.worst_ms} ms."
    )
