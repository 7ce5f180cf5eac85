"""What the table and the charts of consumer groups say: names, texts, and the sums of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_penstock.jobs.health import TOP, GroupHealth, Redelivered, Totals
from pyspark_penstock.jobs.text_tables import counted, duration, number
from pyspark_penstock.names import readable

COLUMNS = (
    "stream", "group", "lag", "consumers", "pending", "stuck", "longest idle", "redelivered",
    "lost", "dead consumers",
)  # fmt: skip
SHORT = (("M", 1e6), ("k", 1e3))


def columns(groups: Sequence[GroupHealth]) -> tuple[str, ...]:
    """The columns of the table; that of servers, if there are several."""
    return ("server", *COLUMNS) if has_servers(groups) else COLUMNS


def has_servers(groups: Sequence[GroupHealth]) -> bool:
    """Whether the groups are of servers with names."""
    return any(group.server for group in groups)


def rows(groups: Sequence[GroupHealth]) -> list[tuple[str, ...]]:
    """The rows of the table; the last one has the sums, if there are several groups."""
    several = has_servers(groups)
    found = [((readable(group.server),) if several else ()) + texts(group) for group in groups]
    if len(groups) > 1:
        found.append((("",) if several else ()) + sums(Totals.of(groups)))
    return found


def texts(group: GroupHealth) -> tuple[str, ...]:
    """The row of one group in the table with COLUMNS."""
    return (
        readable(group.stream), readable(group.group), number(group.lag), number(group.consumers),
        number(group.pending), number(group.stuck), duration(group.oldest_idle_ms),
        number(group.redelivered), number(group.lost), dead(group) or "none",
    )  # fmt: skip


def sums(totals: Totals) -> tuple[str, ...]:
    """The last row of the table with COLUMNS."""
    return (
        f"({counted(totals.streams, 'stream')})", f"({counted(totals.groups, 'group')})",
        number(totals.lag), "",
        number(totals.pending), number(totals.stuck), "", number(totals.redelivered),
        number(totals.lost), number(totals.dead),
    )  # fmt: skip


def dead(group: GroupHealth) -> str:
    """The dead consumers of a group, with their pending entries."""
    return ", ".join(f"{readable(one.name)} ({one.pending:,})" for one in group.dead)


def summary(groups: Sequence[GroupHealth]) -> str:
    """The sums of all groups in one line."""
    if not groups:
        return "no consumer groups"
    totals = Totals.of(groups)
    parts = [
        f"{counted(totals.groups, 'group')} of {counted(totals.streams, 'stream')}",
        f"lag {totals.lag:,}",
        f"pending {totals.pending:,}, stuck {totals.stuck:,}",
        f"redelivered {totals.redelivered:,}",
        f"lost {totals.lost:,}",
        counted(totals.dead, "dead consumer"),
    ]
    return " \u00b7 ".join(parts)


def name_of(group: GroupHealth) -> str:
    """The name of a group, with its stream and its server, if that has a name."""
    return readable(f"{group.server} {group.stream} / {group.group}".lstrip())


def name_within(group: GroupHealth, most: int) -> str:
    """The name of a group in at most so many characters; that of its server stays whole."""
    server = readable(f"{group.server} ") if group.server else ""
    rest = readable(f"{group.stream} / {group.group}")
    return server + shortened(rest, max(10, most - len(server)))


def most_delivered(groups: Sequence[GroupHealth]) -> list[tuple[GroupHealth, Redelivered]]:
    """The entries of all groups that were delivered most often."""
    found = [(group, entry) for group in groups for entry in group.most_redelivered]
    return sorted(found, key=lambda pair: -pair[1].deliveries)[:TOP]


def redeliveries(groups: Sequence[GroupHealth]) -> Iterator[str]:
    """The entries of each group that were delivered most often, as text."""
    for group in groups:
        for entry in group.most_redelivered:
            yield (
                f"{name_of(group)}: {entry.id} was given out {entry.deliveries} times, "
                f"last to {entry.consumer} {duration(entry.idle_ms)} ago"
            )


def short(value: int) -> str:
    """A number that fits into a cell."""
    for unit, least in SHORT:
        if value >= least:
            return f"{value / least:.3g}{unit}"
    return str(value)


def shortened(label: str, most: int) -> str:
    """A label that fits before a bar. Its end is kept, which says more than its beginning."""
    return label if len(label) <= most else f"\u2026{label[1 - most :]}"
