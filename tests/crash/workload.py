"""The commands of a crash test's writer, and the state of its keys after each.

A writer has keys of its own, so their state depends only on how many of its commands were done:

    step n of 8:  XADD  XADD  XREADGROUP  XREADGROUP  XACK or XCLAIM  RPUSH  LPOP or RPUSH  INCR

``State.do`` applies a command to a naive model; ``read_state`` reads the same facts from a server.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.crash.wire import Wire

STEPS = 8


def command(writer: int, n: int) -> list[bytes]:
    """The command number *n*, from 0, of *writer*."""
    stream, queue, counter = (b"%s:%d" % (kind, writer) for kind in (b"stream", b"list", b"count"))
    cycle, step = divmod(n, STEPS)
    consumer = b"c%d" % (cycle % 3)
    if step in (0, 1):
        return [b"XADD", stream, b"%d-1" % (2 * cycle + step + 1), b"n", b"%d" % n, b"cr", b"\r\n"]
    if step in (2, 3):
        return [b"XREADGROUP", b"GROUP", b"g", consumer, b"COUNT", b"1", b"STREAMS", stream, b">"]
    if step == 4:
        entry = b"%d-1" % (2 * cycle + 1)
        if cycle % 4 == 0:
            return [b"XCLAIM", stream, b"g", b"thief", b"0", entry]
        return [b"XACK", stream, b"g", entry]
    if step == 5 or (step == 6 and cycle < 20):
        return [b"RPUSH", queue, b"%d" % n]
    return [b"LPOP", queue] if step == 6 else [b"INCR", counter]


def first_command(writer: int) -> list[bytes]:
    """The command that must run once before command 0."""
    return [b"XGROUP", b"CREATE", b"stream:%d" % writer, b"g", b"0", b"MKSTREAM"]


@dataclass
class State:
    """The state of a writer's keys."""

    entries: list[tuple[bytes, bytes]] = field(default_factory=list)  # id, n
    pending: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)  # id: consumer, count
    last_delivered: bytes = b"0-0"
    queue: list[bytes] = field(default_factory=list)
    count: int = 0

    def do(self, argv: list[bytes]) -> None:
        """Apply one command of the sequence."""
        name = argv[0]
        if name == b"XADD":
            self.entries.append((argv[2], argv[4]))
        elif name == b"XREADGROUP":
            delivered = int(self.last_delivered.split(b"-")[0])  # ids are 1-1, 2-1, ..
            self.last_delivered = b"%d-1" % (delivered + 1)
            self.pending[self.last_delivered] = (argv[3], 1)
        elif name == b"XCLAIM":
            _, times = self.pending[argv[5]]
            self.pending[argv[5]] = (argv[3], times + 1)
        elif name == b"XACK":
            del self.pending[argv[3]]
        elif name == b"RPUSH":
            self.queue.append(argv[2])
        elif name == b"LPOP":
            del self.queue[0]
        else:
            self.count += 1


def read_state(wire: Wire, writer: int) -> State:
    """The state of the writer's keys on the server."""
    stream = b"stream:%d" % writer
    entries = wire.call(b"XRANGE", stream, b"-", b"+")
    groups = wire.call(b"XINFO", b"GROUPS", stream)
    group = dict(zip(groups[0][::2], groups[0][1::2], strict=True))
    rows = wire.call(b"XPENDING", stream, b"g", b"-", b"+", b"1000000")
    return State(
        entries=[(entry_id, fields[1]) for entry_id, fields in entries],
        pending={entry_id: (consumer, times) for entry_id, consumer, _, times in rows},
        last_delivered=group[b"last-delivered-id"],
        queue=wire.call(b"LRANGE", b"list:%d" % writer, b"0", b"-1"),
        count=int(wire.call(b"GET", b"count:%d" % writer) or 0),
    )
