"""XCOUNT, XNTH and XSPLIT: exact numbers of a stream, which only Penstock has.

storage/stream/positions.py says how they are found without a walk over the entries.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.shared.count_args import COUNT_NOT_POSITIVE
from server.commands.streams import stream_args, stream_reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, KeyRange
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO

READ = Flags.READONLY

# Each part is a look-up, and all other clients wait meanwhile: this many take some 10 ms.
MOST_PARTS = 10_000

BAD_PARTS = ErrorReply("ERR", f"parts must be between 1 and {MOST_PARTS}")


@command(
    "XCOUNT",
    arity=4,
    flags=READ,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)) with N being the number of entries; O(N) for the first such command.",
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "end": "string"},
)
def xcount(call: Call) -> Reply:
    """Counts the entries whose IDs lie between two.

    XCOUNT key start end
    """
    start = stream_args.range_start(call.argv[2])
    end = stream_args.range_end(call.argv[3])
    stream = call.db.read(call.argv[1], Stream)
    return 0 if stream is None else stream.count(start, end)


@command(
    "XNTH",
    arity=-3,
    flags=READ,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)+M) with N being the number of entries and M that of those returned; O(N) "
    "for the first such command.",
    keys=KeyRange(RO | ACCESS),
    types={"n": "integer"},
)
def xnth(call: Call) -> Reply:
    """Returns entries from the n-th one on, oldest first: 0 is the first, -1 the last.

    XNTH key n [COUNT count]
    """
    args = Args(call.argv, 2)
    number = args.take_int()
    count = 1
    if args.left():
        if not args.skip(b"COUNT"):
            raise errors.SYNTAX
        count = args.take_positive(COUNT_NOT_POSITIVE)
        if args.left():
            raise errors.SYNTAX
    stream = call.db.read(call.argv[1], Stream)
    if stream is None:
        return []
    if number < 0:
        number += stream.length
    found = stream.positions().neighbours(number)
    if found is None:
        return []
    out = call.client.out.another()
    stream_reply.write_range(out, stream, found[0], MAX, count)
    return out


@command(
    "XSPLIT",
    arity=-3,
    flags=READ,
    group="stream",
    since="0.1.0",
    complexity="O(P*log(N)) with P being the number of parts and N that of entries; O(N) for the "
    "first such command.",
    keys=KeyRange(RO | ACCESS),
    types={"parts": "integer", "start": "string", "end": "string"},
)
def xsplit(call: Call) -> Reply:
    """Divides entries into parts of about the same length: the first and last ID, and the length.

    XSPLIT key parts [start end]
    """
    argv = call.argv
    if len(argv) not in (3, 5):
        raise errors.SYNTAX
    parts = to_int(argv[2])
    if not 1 <= parts <= MOST_PARTS:
        raise BAD_PARTS
    start, end = ZERO, MAX
    if len(argv) == 5:
        start, end = stream_args.range_start(argv[3]), stream_args.range_end(argv[4])
    stream = call.db.read(argv[1], Stream)
    if stream is None:
        return []
    count = stream.count(start, end)
    return [] if count == 0 else _split(stream, stream.positions().before(start), count, parts)


def _split(stream: Stream, number: int, count: int, parts: int) -> Reply:
    """*parts* parts of the *count* entries from the entry *number* on, or as many as there are."""
    parts = min(parts, count)
    positions = stream.positions()
    rows: list[Reply] = []
    # The ids on both sides of a border are found at once.
    found = positions.neighbours(number)
    first = None if found is None else found[0]
    done = 0
    for part in range(1, parts + 1):
        upto = count * part // parts
        found = positions.neighbours(number + upto - 1)
        if first is None or found is None:
            break
        rows.append([first.encode(), found[0].encode(), upto - done])
        first = found[1]
        done = upto
    return rows
