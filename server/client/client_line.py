"""A client as CLIENT LIST shows it: one line of name=value, the fields of redis 8.8.

id=7 addr=127.0.0.1:50412 laddr=127.0.0.1:6379 fd=12 name=worker age=60 idle=3 flags=b db=0 ..

qbuf, qbuf-free   bytes of requests as they came, and of memory that is spare beyond them
argv-mem          bytes of the words of a command: it runs, waits, or is not all there yet
multi-mem         bytes of the commands that wait for EXEC
rbs, rbp          bytes of the reply buffer: its memory, which a client has only while something
                  is in it, and the most that has left at once in the last five seconds
obl, oll, omem    replies: bytes in that buffer; pieces that the socket has not taken yet, or
                  that are too large to be copied, and their bytes
tot-mem           all of that, what it watches and is subscribed to, and the client itself
parse-batch-*     how often commands of it were whole at once, and how many in all
waits             Penstock's own, only of a client that waits: for which keys, or keys that match
                  which patterns; what could be taken for something else is %XX
acks              Penstock's own, only with CLIENT ACKS: how many replicas, fsync, the time in ms
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.replies import ErrorReply
from server.client.client import CLIENT_BYTES, LINK, MONITORING, REPLICA, TRACKING, Client
from server.client.held_replies import HeldReplies
from server.table import errors

NO_REDIRECTION = -1  # the client tracks no keys
NOT_IN_MULTI = -1

# These keep the line short, whatever a client waits for: it is for people, and made of all clients.
MOST_WAITS = 4  # keys
LONGEST_WAIT = 100  # bytes of each

TYPES = {
    b"normal": "normal",
    b"master": "master",
    b"replica": "replica",
    b"slave": "replica",
    b"pubsub": "pubsub",
}


def line(client: Client, now_ms: int, running: Sequence[bytes] = ()) -> bytes:
    """The line of *client* at unix time *now_ms*, without a line end.

    *running* are the words of the command that it runs at that moment.
    """
    fields = _fields(client, now_ms, sum(map(len, running))).items()
    text = " ".join(f"{name}={value}" for name, value in fields)
    waits = _waits(client)
    if waits:
        text += f" waits={waits}"
    if client.acks is not None:
        text += f" acks={_acks(client.acks)}"
    return text.encode("utf-8", "surrogateescape")


def type_of(client: Client) -> str:
    """The client's class, as CLIENT LIST and the output buffer limits know it."""
    if client.flags & REPLICA:
        return "replica"
    if client.flags & LINK:
        return "master"
    return "pubsub" if client.is_subscribed else "normal"


def limit_class_of(client: Client) -> str:
    """The class of client-output-buffer-limit that holds for *client*."""
    return "slave" if client.flags & REPLICA else type_of(client)


def is_tracking(client: Client) -> bool:
    """Whether the server tracks the keys that *client* reads."""
    return bool(client.flags & TRACKING)


def redirection_of(client: Client) -> int:
    """The id of the client that gets its invalidations: 0 for itself, -1 if there are none."""
    return client.tracking.redirect if is_tracking(client) else NO_REDIRECTION


def type_named(word: bytes) -> str:
    """The class that a client calls *word*. Raises ErrorReply if there is none of that name."""
    name = TYPES.get(word.lower())
    if name is None:
        raise ErrorReply("ERR", f"Unknown client type '{errors.text_of(word)}'")
    return name


def _fields(client: Client, now_ms: int, running_bytes: int) -> dict[str, object]:
    held, out, queue = client.endpoint.buffers(), client.out, client.queue
    words = running_bytes + held.words + client.argv_bytes()
    in_pieces = held.replies + held.waiting + out.size() - out.in_buffer()
    kept = held.requests + held.room + queue.memory() + out.buffer_size() + client.held
    return {
        "id": client.id,
        "addr": client.address,
        "laddr": client.local_address,
        "fd": client.fd,
        "name": client.name.decode("ascii"),
        "age": (now_ms - client.created_ms) // 1000,
        "idle": (now_ms - client.last_used_ms) // 1000,
        "flags": _flags(client),
        "db": client.db_index,
        "sub": len(client.subscriptions.channels),
        "psub": len(client.subscriptions.patterns),
        "ssub": len(client.subscriptions.shard_channels),
        "multi": len(client.queue) if client.in_multi else NOT_IN_MULTI,
        "watch": len(client.watching),
        "qbuf": held.requests,
        "qbuf-free": held.room,
        "argv-mem": words,
        "multi-mem": queue.size(),
        "rbs": out.buffer_size(),
        "rbp": max(out.size(), client.recent_reply_peak(now_ms)),
        "obl": out.in_buffer(),
        "oll": held.pieces + held.portions + out.piece_count(),
        "omem": in_pieces,
        "tot-mem": CLIENT_BYTES + kept + words + in_pieces,
        "events": "rw" if held.replies else "r",
        "cmd": client.last_command.name if client.last_command else "NULL",
        "user": client.user.name.decode("utf-8", "surrogateescape"),
        "redir": redirection_of(client),
        "resp": client.resp,
        "lib-name": client.lib_name.decode("ascii"),
        "lib-ver": client.lib_version.decode("ascii"),
        "io-thread": 0,
        "tot-net-in": client.received,
        "tot-net-out": max(0, client.sent - held.replies),  # by TLS a reply becomes longer
        "tot-cmds": client.commands,
        "read-events": client.reads,
        "parse-batch-cmd-sum": client.batched,
        "parse-batch-cnt": client.batches,
    }


def _flags(client: Client) -> str:
    letters = {
        "S": bool(client.flags & REPLICA),
        "M": bool(client.flags & LINK),
        "O": bool(client.flags & MONITORING),
        "P": client.is_subscribed,
        "x": client.in_multi,
        "b": client.waiter is not None or client.postponed is not None,
        "t": is_tracking(client),
        "R": client.tracking.broken,
        "B": client.tracking.broadcasts,
        "d": client.dirty_watch,
        "c": client.close_after_reply,
        "U": client.address.endswith(":0"),  # a unix socket
        "e": client.no_evict,
        "T": client.no_touch,
    }
    return "".join(letter for letter, holds in letters.items() if holds) or "N"


def _waits(client: Client) -> str:
    """What *client* waits for; "" if it does not, or not for keys."""
    waiter = client.waiter
    if waiter is None:
        return ""
    readers = waiter.block.readers
    keys = waiter.block.keys if readers is None else readers.patterns
    shown = [_spelled(key) for key in keys[:MOST_WAITS]]
    return ",".join(shown + ["..."] * (len(keys) > MOST_WAITS))


def _acks(held: HeldReplies) -> str:
    words = [str(held.level.wanted or "quorum"), *["fsync"] * held.level.fsync]
    return ",".join([*words, str(held.timeout_ms)])


def _spelled(key: bytes) -> str:
    """The beginning of *key*, in ASCII without blanks, commas and what begins an escape."""
    letters = [
        chr(byte) if 0x21 <= byte <= 0x7E and byte not in b"%,=" else f"%{byte:02X}"
        for byte in key[:LONGEST_WAIT]
    ]
    return "".join(letters) + "..." * (len(key) > LONGEST_WAIT)
