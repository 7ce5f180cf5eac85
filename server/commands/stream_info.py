"""XINFO: what is in a stream, its groups and their consumers.

A description is built as a dict, in the order of redis's fields; RESP2 clients get it flat.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server import errors, stream_reply
from server.args import Args
from server.call import Call
from server.command import Flags, Keys, command, container
from storage import group_lag
from storage.consumer_group import NEVER, UNKNOWN, Consumer, ConsumerGroup
from storage.pending import Pending, id_of
from storage.stream import Stream
from storage.stream_id import MAX, ZERO

KEY = Keys(2, 2, access="RO")
SHOWN = 10  # entries and pending entries that FULL shows of each list, unless COUNT says otherwise

BAD_CALL = ErrorReply(
    "ERR", "unknown subcommand or wrong number of arguments for 'stream'. Try XINFO HELP."
)

container(
    "XINFO", group="stream", since="5.0.0",
    summary="A container for stream introspection commands.",
)  # fmt: skip


@command("XINFO HELP", arity=2, flags=Flags.LOADING | Flags.STALE, group="stream", since="5.0.0")
def xinfo_help(_call: Call) -> Reply:
    """Returns helpful text about the different subcommands.

    XINFO HELP
    """
    return list(HELP)


@command("XINFO STREAM", arity=-3, flags=Flags.READONLY, group="stream", since="5.0.0", keys=KEY)
def xinfo_stream(call: Call) -> Reply:
    """Returns information about a stream.

    XINFO STREAM key [FULL [COUNT count]]
    """
    count = _full_count(call.argv)
    stream = _stream(call)
    facts: dict[bytes, Reply] = {
        b"length": len(stream),
        b"radix-tree-keys": len(stream.rax),
        b"radix-tree-nodes": stream.rax.node_count,
        b"last-generated-id": stream.last_id.encode(),
        b"max-deleted-entry-id": stream.max_deleted_id.encode(),
        b"entries-added": stream.entries_added,
        b"recorded-first-entry-id": stream.first_id.encode(),
    }
    return facts | (_summary(stream) if count is None else _full(stream, count))


def _full_count(argv: list[bytes]) -> int | None:
    """FULL's COUNT (0: all), or None without FULL. Raises ErrorReply."""
    if len(argv) == 3:
        return None
    args = Args(argv, 3)
    if len(argv) not in (4, 6) or args.take_word(b"FULL") is None:
        raise BAD_CALL
    if not args.left:
        return SHOWN
    if args.take_word(b"COUNT") is None:
        raise BAD_CALL
    count = args.take_int()
    return count if count >= 0 else SHOWN


def _summary(stream: Stream) -> dict[bytes, Reply]:
    return {
        b"groups": len(stream.groups),
        b"first-entry": _edge(stream, last=False),
        b"last-entry": _edge(stream, last=True),
    }


def _edge(stream: Stream, last: bool) -> Reply:
    """The first or last entry, or null."""
    out = Encoder()
    edge_id = stream.last_entry_id() if last else stream.first_entry_id()
    return out if stream_reply.write_entry(out, stream, edge_id) else None


def _full(stream: Stream, count: int) -> dict[bytes, Reply]:
    entries = Encoder()
    stream_reply.write_range(entries, stream, ZERO, MAX, count)
    groups: list[Reply] = [
        _full_group(stream, name, group, count) for name, group in stream.sorted_groups()
    ]
    return {b"entries": entries, b"groups": groups}


def _full_group(stream: Stream, name: bytes, group: ConsumerGroup, count: int) -> Reply:
    pending: list[Reply] = [
        [id_of(entry).encode(), _owner_name(group, entry), entry.delivery_time, entry.delivery_count]
        for entry in group.pending_range(ZERO, MAX, count or len(group.pel))
    ]
    consumers: list[Reply] = [
        _full_consumer(group, consumer, count) for consumer in group.sorted_consumers()
    ]
    return {
        b"name": name,
        b"last-delivered-id": group.last_id.encode(),
        b"entries-read": None if group.entries_read == UNKNOWN else group.entries_read,
        b"lag": group_lag.lag(stream, group),
        b"pel-count": len(group.pel),
        b"pending": pending,
        b"consumers": consumers,
    }


def _owner_name(group: ConsumerGroup, entry: Pending) -> bytes:
    owner = group.owner(entry)
    return b"" if owner is None else owner.name


def _full_consumer(group: ConsumerGroup, consumer: Consumer, count: int) -> Reply:
    pending: list[Reply] = [
        [id_of(entry).encode(), entry.delivery_time, entry.delivery_count]
        for entry in group.pending_range(ZERO, MAX, count or len(consumer.pel), consumer)
    ]
    return {
        b"name": consumer.name,
        b"seen-time": consumer.seen_time,
        b"active-time": consumer.active_time,
        b"pel-count": len(consumer.pel),
        b"pending": pending,
    }


@command("XINFO GROUPS", arity=3, flags=Flags.READONLY, group="stream", since="5.0.0", keys=KEY)
def xinfo_groups(call: Call) -> Reply:
    """Returns a list of the consumer groups of a stream.

    XINFO GROUPS key
    """
    stream = _stream(call)
    return [
        {
            b"name": name,
            b"consumers": len(group.consumers),
            b"pending": len(group.pel),
            b"last-delivered-id": group.last_id.encode(),
            b"entries-read": None if group.entries_read == UNKNOWN else group.entries_read,
            b"lag": group_lag.lag(stream, group),
        }
        for name, group in stream.sorted_groups()
    ]


@command("XINFO CONSUMERS", arity=4, flags=Flags.READONLY, group="stream", since="5.0.0", keys=KEY)
def xinfo_consumers(call: Call) -> Reply:
    """Returns a list of the consumers in a consumer group.

    XINFO CONSUMERS key group
    """
    key, name = call.argv[2], call.argv[3]
    group = _stream(call).find_group(name)
    if group is None:
        raise errors.no_such_group(name, key)
    now_ms = call.now_ms
    return [
        {
            b"name": consumer.name,
            b"pending": len(consumer.pel),
            b"idle": max(now_ms - consumer.seen_time, 0),
            b"inactive": NEVER
            if consumer.active_time == NEVER
            else max(now_ms - consumer.active_time, 0),
        }
        for consumer in group.sorted_consumers()
    ]


def _stream(call: Call) -> Stream:
    """The stream that the call is about. Raises ErrorReply, WrongType."""
    stream = call.db.read(call.argv[2], Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    return stream


HELP = (
    b"XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    b"CONSUMERS <key> <groupname>",
    b"    Show consumers of <groupname>.",
    b"GROUPS <key>",
    b"    Show the stream consumer groups.",
    b"STREAM <key> [FULL [COUNT <count>]",
    b"    Show information about the stream.",
    b"HELP",
    b"    Prints this help.",
)
