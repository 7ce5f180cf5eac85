"""XINFO: shows the state of a stream, its groups and their consumers."""

from __future__ import annotations

from typing import Any

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.streams import stream_reply, stream_retention
from server.commands.streams.adding import stream_delays
from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import OwnWords, Tip
from server.table.keys import ACCESS, RO, KeyRange
from storage import octets
from storage.rax.rax import Rax
from storage.side_data import schedule as schedules
from storage.stream import group_lag
from storage.stream import pending as pendings
from storage.stream.consumer_group import NEVER, UNKNOWN, Consumer, ConsumerGroup
from storage.stream.producers import Producers
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO

READ = Flags.READONLY

DEFAULT_COUNT = 10  # entries of each kind in a FULL report

container(
    "XINFO",
    group="stream",
    since="5.0.0",
    summary="Shows what a stream, its groups and their consumers are doing.",
)


def _stream(call: Call) -> Stream:
    stream = call.db.read(call.argv[2], Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    return stream


# ---------------------------------------------------------------------- XINFO STREAM


@command(
    "XINFO STREAM",
    arity=-3,
    flags=READ,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RO | ACCESS, first=2),
    history=[
        ("6.0.0", "FULL."),
        ("7.0.0", "The fields max-deleted-entry-id, entries-added and recorded-first-entry-id."),
        ("7.2.0", "The field active-time."),
        ("8.6.0", "The fields of idempotent producers, idmp-duration to iids-duplicates."),
    ],
)
def xinfo_stream(call: Call) -> Reply:
    """Shows a stream's length, IDs and memory nodes; with FULL its entries and groups too.

    XINFO STREAM key [FULL [COUNT count]]
    """
    stream = _stream(call)
    full, count = _full_options(call.argv)
    report: dict[bytes, Reply] = {
        b"length": stream.length,
        b"radix-tree-keys": len(stream.rax),
        b"radix-tree-nodes": stream.rax.node_count,
        b"last-generated-id": stream.last_id.encode(),
        b"max-deleted-entry-id": stream.max_deleted_id.encode(),
        b"entries-added": stream.entries_added,
        b"recorded-first-entry-id": stream.first_id.encode(),
        **_producers(call, stream),
    }
    if call.db.side:
        report |= _schedule(call)
    if full:
        report[b"entries"] = _entries(call, stream, count)
        report[b"groups"] = [
            _full_group(stream, name, group, count) for name, group in stream.sorted_groups()
        ]
    else:
        report[b"groups"] = len(stream.groups)
        report[b"first-entry"] = _edge(call, stream, reverse=False)
        report[b"last-entry"] = _edge(call, stream, reverse=True)
    report.update(stream_retention.facts(call, call.argv[2], stream))
    return report


def _producers(call: Call, stream: Stream) -> dict[bytes, Reply]:
    """What is known of the producers that add each entry once."""
    tracked = stream.producers
    if tracked is None:
        tracked = Producers(call.server.node_limits.stream.producers)
    tracked.expire(call.now_ms)
    return {
        b"idmp-duration": tracked.seconds,
        b"idmp-maxsize": tracked.ids,
        b"pids-tracked": tracked.count(),
        b"iids-tracked": tracked.tracked,
        b"iids-added": tracked.added,
        b"iids-duplicates": tracked.duplicates,
    }


def _schedule(call: Call) -> dict[bytes, Reply]:
    """How much is to be added later, and when the first is due, and how much expires, if any."""
    schedule = stream_delays.schedule_of(call, call.argv[2])
    report: dict[bytes, Reply] = {}
    if schedule is not None and (len(schedule) or schedule.jobs):
        due_ms = schedule.first_added()
        report = {
            b"scheduled": len(schedule),
            b"jobs": len(schedule.jobs),
            b"next-due": due_ms if due_ms < schedules.NEVER else None,
        }
    if schedule is not None and schedule.deadlines.count():
        report[b"expiring"] = schedule.deadlines.count()
    return report


def _full_options(argv: list[bytes]) -> tuple[bool, int]:
    """Whether FULL is given, and the value of COUNT. Raises ErrorReply."""
    if len(argv) == 3:
        return False, 0
    if len(argv) not in (4, 6) or argv[3].upper() != b"FULL":
        raise errors.bad_subcommand("XINFO", argv[1])
    if len(argv) == 4:
        return True, DEFAULT_COUNT
    if argv[4].upper() != b"COUNT":
        raise errors.bad_subcommand("XINFO", argv[1])
    count = to_int(argv[5])
    return True, DEFAULT_COUNT if count < 0 else count


def _entries(call: Call, stream: Stream, count: int) -> Reply:
    out = call.client.out.another()
    stream_reply.write_range(out, stream, ZERO, MAX, count)
    return out


def _edge(call: Call, stream: Stream, reverse: bool) -> Reply:
    """The first or the last entry, or None."""
    entry_id = stream.last_entry_id() if reverse else stream.first_entry_id()
    out = call.client.out.another()
    return out if stream_reply.write_entry(out, stream.finder(), entry_id) else None


def _full_group(stream: Stream, name: bytes, group: ConsumerGroup, count: int) -> Reply:
    pending: list[Reply] = []
    for entry in _first_of(group.pel, count):
        owner = group.owner(entry)
        text = pendings.id_of(entry).encode()
        owner_name = b"" if owner is None else owner.name
        pending.append([text, owner_name, entry.delivery_time, pendings.count_of(entry)])
    return {
        b"name": name,
        b"last-delivered-id": group.last_id.encode(),
        b"entries-read": _entries_read(group),
        b"lag": group_lag.lag(stream, group),
        b"pel-count": len(group.pel),
        b"nacked-count": group.released(),
        b"pending": pending,
        b"consumers": [_full_consumer(member, count) for member in group.sorted_consumers()],
    }


def _full_consumer(consumer: Consumer, count: int) -> Reply:
    pending: list[Reply] = [
        [pendings.id_of(entry).encode(), entry.delivery_time, pendings.count_of(entry)]
        for entry in _first_of(consumer.pel, count)
    ]
    return {
        b"name": consumer.name,
        b"seen-time": consumer.seen_time,
        b"active-time": consumer.active_time,
        b"pel-count": len(consumer.pel),
        b"pending": pending,
    }


def _first_of(pel: Rax, count: int) -> list[pendings.Pending]:
    """The *count* pending entries of the smallest ids (0: all)."""
    found: list[pendings.Pending] = []
    place = pel.seek("^")
    while place.next():
        found.append(place.value)
        if len(found) == count:
            break
    return found


def _entries_read(group: ConsumerGroup) -> int | None:
    return None if group.entries_read == UNKNOWN else group.entries_read


# ---------------------------------------------------------------------- XINFO GROUPS, CONSUMERS


@command(
    "XINFO GROUPS",
    arity=-3,
    flags=READ,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RO | ACCESS, first=2),
    history=[("7.0.0", "The fields entries-read and lag.")],
    own=[OwnWords("EXACT", "the lag is counted where it is not known")],
)
def xinfo_groups(call: Call) -> Reply:
    """Shows each group of a stream: its consumers, how far it has read, how far it is behind.

    XINFO GROUPS key [EXACT]
    """
    argv = call.argv
    is_exact = len(argv) == 4 and argv[3].upper() == b"EXACT"
    if len(argv) > 3 and not is_exact:
        raise errors.wrong_arity("xinfo|groups")
    stream = _stream(call)
    rows: list[Reply] = []
    for name, group in stream.sorted_groups():
        row: dict[Any, Any] = {
            b"name": name,
            b"consumers": len(group.consumers),
            b"pending": len(group.pel),
            b"last-delivered-id": group.last_id.encode(),
            b"entries-read": _entries_read(group),
            b"lag": (
                group_lag.counted_lag(stream, group) if is_exact else group_lag.lag(stream, group)
            ),
        }
        policy = group_steps.policy_of(call, call.argv[2], name)
        if policy is not None:
            row[b"policy"] = policy.words()
        rows.append(row)
    return rows


@command(
    "XINFO CONSUMERS",
    arity=4,
    flags=READ,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RO | ACCESS, first=2),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("7.2.0", "The field inactive.")],
)
def xinfo_consumers(call: Call) -> Reply:
    """Shows each consumer of a group: how much is pending, and how long it has been idle.

    XINFO CONSUMERS key group
    """
    key, name = call.argv[2], call.argv[3]
    group = _stream(call).find_group(name)
    if group is None:
        raise errors.no_such_group(name, key)
    out = call.client.out.another()
    out.array(len(group.consumers))
    for member in group.sorted_consumers():
        _write_consumer(out, member, call.now_ms)
    return out


def _write_consumer(out: Encoder, member: Consumer, now_ms: int) -> None:
    """Write what XINFO CONSUMERS shows of *member*: without an object for each field."""
    out.map(4)
    out.bulk(b"name")
    out.bulk(member.name)
    out.bulk(b"pending")
    out.integer(len(member.pel))
    out.bulk(b"idle")
    out.integer(max(0, octets.since(member.seen_time, now_ms)))
    out.bulk(b"inactive")
    given = member.active_time  # when it was given an entry the last time
    out.integer(NEVER if given == NEVER else octets.since(given, now_ms))


container_help("XINFO", group="stream", since="5.0.0")
