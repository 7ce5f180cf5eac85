"""Feed hostile bytes to a replica, as its primary would send them.

``python -m fuzz.primary -max_total_time=60`` does so for a minute.

The first byte says what the rest is: answers to the handshake, a copy, or the stream of changes, or
the seed of a stream of commands. It comes in portions of a length that the second byte says.
Whatever comes, the link is ended by one of the documented exceptions, or stays. What was passed
on is the beginning of what came; nothing waits, nothing is answered, and the keyspace holds what it
must.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from fuzz import engine

with engine.instrument_imports(include=["server.parts.replication", "server.dispatch", "protocol"]):
    from fuzz.command_server import FuzzedServer
    from fuzz.command_words import CommandWords
    from protocol.requests import ProtocolError
    from server.client.client import Client
    from server.config.parameters import Config
    from server.following.primary_stream import BrokenStreamError, PrimaryStream
    from server.parts.replication.handshake import Handshake, LinkFailed
    from server.parts.replication.incoming_copy import IncomingCopy
    from server.process.faults import ServerFault

COMMANDS = 60  # of a stream that is drawn
BACKLOG = 1 << 18  # bytes
LONGEST_NUMBER = 7  # digits of an offset
ID = "0" * 40


def portions(data: bytes, size: int) -> Iterator[bytes]:
    """*data* in portions of *size* bytes."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


def shake_hands(data: bytes) -> None:
    """Answer a handshake with the lines of *data*."""
    handshake = Handshake(Config(), ID, 0, takes_over=False)
    handshake.next()
    for line in data.split(b"\n"):
        try:
            if handshake.take(line):
                handshake.next()
        except LinkFailed:
            return
        if handshake.outcome is not None:
            return


def receive_copy(data: bytes, size: int) -> None:
    """Take *data* as a copy: no byte of it is there twice."""
    taken: list[bytes] = []
    copy = IncomingCopy(taken.append)
    try:
        for portion in portions(data, size):
            if copy.is_whole:
                return
            copy.take(portion)
    except LinkFailed:
        return
    assert b"".join(taken) in data
    assert copy.received == sum(map(len, taken))


def follow(data: bytes, size: int) -> None:
    """Run *data* as the stream of a primary."""
    server = FuzzedServer(1, is_alone=True)
    replication = server.state.replication
    replication.history.keep_backlog(BACKLOG)
    replication.follow("127.0.0.1", 1)
    stream = PrimaryStream(server.dispatcher, Client(0, server.now_ms))
    try:
        for portion in portions(data, size):
            stream.take(portion)
    except (BrokenStreamError, ProtocolError, ServerFault):
        pass
    assert replication.history.backlog is not None
    passed_on = b"".join(replication.history.backlog.since(replication.history.backlog.first))
    assert data.startswith(passed_on)
    assert len(passed_on) == replication.history.offset
    assert server.state.blocking.waiting == 0
    assert stream.client.out.size() == 0
    server.check_data(Random(0))


def _fits(argv: list[bytes]) -> bool:
    """Whether *argv* makes no string that takes all memory: no limit holds for a primary."""
    grows = argv[0].upper() in (b"SETRANGE", b"SETBIT", b"BITFIELD")
    return not grows or all(
        len(word) <= LONGEST_NUMBER for word in argv if word.strip(b"#").isdigit()
    )


def as_commands(data: bytes) -> bytes:
    """Words, drawn from all commands and their arguments by *data*, in RESP."""
    words = CommandWords(Random(data))
    drawn = [words.draw() for _ in range(COMMANDS)]
    parts = [b"*%d\r\n" % len(argv) + b"".join(map(_word, argv)) for argv in drawn if _fits(argv)]
    return b"".join(parts)


def _word(word: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(word), word)


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    if len(data) < 2:
        return
    size = data[1] + 1
    if data[0] % 4 == 0:
        shake_hands(data[2:])
    elif data[0] % 4 == 1:
        receive_copy(data[2:], size)
    elif data[0] % 4 == 2:
        follow(data[2:], size)
    else:
        follow(as_commands(data[2:]), size)


SEEDS = (
    b"\0\0+PONG\n+OK\n+OK\n+OK\n+FULLRESYNC " + b"a" * 40 + b" 1",
    b"\0\0+PONG\n-NOAUTH\n+CONTINUE " + b"b" * 40,
    b"\1\x0f$5\r\nREDIS",
    b"\1\x0f$EOF:" + b"c" * 40 + b"\r\nREDIS0010\xff" + b"c" * 40,
    b"\2\x0f*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n",
    b"\2\xff*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n*1\r\n$5\r\nMULTI\r\n",
    b"\3\xffseed",
)

if __name__ == "__main__":
    engine.run(test_one, "primary", SEEDS)
