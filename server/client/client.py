"""One client as the server knows it: who it is, what it has chosen, what it waits for.

A client has no socket here: its *endpoint* disconnects it, and sends what its *out* has collected.
"""

from __future__ import annotations

from typing import Any, Protocol

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.command_queue import NO_COMMANDS, CommandQueue
from server.client.endpoint import NO_ENDPOINT
from server.client.held_replies import HeldReplies
from server.client.subscriptions import NO_SUBSCRIPTIONS
from server.client.tracking_options import NOT_TRACKING
from server.table.command import Block, Command
from server.users.user import user_with_all_rights

# Client.flags: each of them makes the dispatcher check what a client's next command may do.
UNAUTHENTICATED = 1  # the default user has a password, and the client has not logged in
IN_MULTI = 2  # commands are queued
MUTED = 4  # CLIENT REPLY OFF or SKIP: nothing is answered
SUBSCRIBED = 8  # to channels or patterns: in RESP2, few commands may be run
MONITORING = 16  # it is shown what others do, and may not work with keys itself
TRACKING = 32  # the server remembers which keys it reads: CLIENT TRACKING
TOLD = 64  # it is sent the invalidations of another client
RESTRICTED = 128  # its user may not do everything: see server/parts/access/access.py
REPLICA = 256  # it is sent the stream of changes, and answered nothing
LINK = 512  # the link to our primary: what comes is run unchecked, and answered nothing
ACKS = 1024  # its replies wait for replicas: CLIENT ACKS, see server/client/held_replies.py

HEARS = SUBSCRIBED | MONITORING | TRACKING | TOLD  # it is sent something besides its replies

ANYBODY = user_with_all_rights(b"default")  # of a client that has not come over a socket
SUPERUSER = user_with_all_rights(b"(superuser)")  # of a primary: what it sends, no user limits

CLIENT_BYTES = 3072  # of a connected client that has sent nothing: its objects and its socket's
REPLY_PEAK_MS = 5000  # so long it is remembered how large the replies were, as in redis

MOST_OUTPUT = 2**63 - 1  # bytes; a greater limit means this one


class ReplicaSide(Protocol):
    """What a client has told of itself as a replica; server/parts/replication has all of it."""

    acked: int  # it has run all up to this offset of the history

    def has_room(self) -> None:
        """Its socket has taken what it was given."""


class Client:
    """One connected client. *flags* is 0 in the common case: its commands run unchecked."""

    __slots__ = (
        "acks",
        "address",
        "argv_size",
        "batched",
        "batches",
        "certificate_name",
        "close_after_reply",
        "commands",
        "created_ms",
        "db_index",
        "dirty_exec",
        "dirty_watch",
        "endpoint",
        "fd",
        "flags",
        "has_left",
        "held",
        "id",
        "is_to_resume",
        "last_command",
        "last_used_ms",
        "lib_name",
        "lib_version",
        "local_address",
        "memory",
        "name",
        "next_to_resume",
        "no_evict",
        "no_touch",
        "out",
        "postponed",
        "queue",
        "reads",
        "received",
        "received_before",
        "replica",
        "replicated_offset",
        "reply_peak",
        "reply_peak_ms",
        "resp",
        "script_left",
        "sent",
        "skip",
        "subscriptions",
        "tracking",
        "user",
        "waiter",
        "watching",
        "written_offset",
    )

    def __init__(self, client_id: int, now_ms: int) -> None:
        self.id = client_id
        self.resp = 2  # the protocol that it speaks: see speak()
        self.out = Encoder(2)
        self.db_index = 0
        self.flags = 0
        self.name = b""
        self.lib_name = b""
        self.lib_version = b""
        self.user = ANYBODY
        self.address = ""  # ip:port, or path:0 on a unix socket
        self.local_address = ""
        self.certificate_name = ""  # the common name in the certificate that it has shown
        self.fd = -1
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.last_command: Command | None = None
        self.commands = 0
        self.reads = 0  # times that something came from it
        self.batches = 0  # of commands that were whole at once: pipelines, mostly
        self.batched = 0  # commands in them
        self.received = 0  # bytes
        self.received_before = 0  # until its last command was answered
        self.sent = 0
        self.reply_peak = 0  # bytes of replies that left at once, the most in REPLY_PEAK_MS
        self.reply_peak_ms = now_ms  # when these left
        self.is_to_resume = False  # when the turn ends: the turn chains these clients
        self.next_to_resume: Client | None = None
        self.memory = 0  # bytes of its requests and replies, when its connection last counted them
        self.held = 0  # bytes of what it watches and is subscribed to
        self.no_evict = False
        self.no_touch = False
        self.skip = 0  # how many answers CLIENT REPLY SKIP still swallows
        self.queue = NO_COMMANDS  # between MULTI and EXEC
        self.dirty_exec = False  # something could not be queued: EXEC must refuse
        self.dirty_watch = False  # a watched key has changed: EXEC must answer null
        self.watching: dict[tuple[int, bytes], Any] = {}  # see server/parts/watching.py
        self.subscriptions = NO_SUBSCRIPTIONS
        self.tracking = NOT_TRACKING
        self.written_offset = 0  # of the AOF's end after the client's last write
        self.replicated_offset = 0  # of the replication stream after the client's last write
        self.acks: HeldReplies | None = None  # with the flag ACKS
        self.replica: ReplicaSide | None = None  # what it has told of itself as a replica
        self.waiter: Waiter | None = None  # while blocked
        # A command that CLIENT PAUSE holds back, or whose script was suspended: long_scripts.py.
        self.postponed: list[bytes] | None = None
        self.argv_size = -1  # bytes of what it waits with; -1: not counted yet
        self.script_left = False  # the script is resumed by cron: do not run the command again
        self.close_after_reply = False
        self.has_left = False  # it sends nothing any more, but may still take its replies
        self.endpoint = NO_ENDPOINT

    @property
    def in_multi(self) -> bool:
        return bool(self.flags & IN_MULTI)

    @property
    def authenticated(self) -> bool:
        return not self.flags & UNAUTHENTICATED

    @property
    def is_subscribed(self) -> bool:
        return bool(self.flags & SUBSCRIBED)

    @property
    def is_muted(self) -> bool:
        return bool(self.flags & MUTED)

    def argv_bytes(self) -> int:
        """Bytes of the command that it waits with: for a key, or a pause's end.

        They are counted once: it may send more while it waits, and is counted at each read.
        """
        argv = self.waiter.argv if self.waiter is not None else self.postponed
        if argv is None:
            return 0
        if self.argv_size < 0:
            self.argv_size = 0
            for word in argv:
                self.argv_size += len(word)
        return self.argv_size

    def postpone(self, argv: list[bytes]) -> None:
        """Keep *argv* until the client may run it, or its script goes on."""
        self.postponed = argv
        self.argv_size = -1

    def count_sent(self, size: int) -> None:
        """Count *size* bytes of replies, which leave at once at *last_used_ms*."""
        self.sent += size
        if size > self.reply_peak or self.last_used_ms - self.reply_peak_ms > REPLY_PEAK_MS:
            self.reply_peak = size
            self.reply_peak_ms = self.last_used_ms

    def recent_reply_peak(self, now_ms: int) -> int:
        """The most bytes of replies that have left at once of late, at unix time *now_ms*."""
        return self.reply_peak if now_ms - self.reply_peak_ms <= REPLY_PEAK_MS else 0

    def connection_lost(self) -> None:
        """There is no connection any more: let go of what leads to it.

        The two know each other, and cycles are collected rarely.
        """
        self.endpoint = NO_ENDPOINT

    def speak(self, resp: int) -> None:
        """Speak RESP *resp* (2 or 3) from the next reply on.

        What it is sent besides its replies is in RESP *resp* always. ``out.resp`` may differ while
        a script runs: its commands are answered in the protocol that the script has chosen.
        """
        self.resp = self.out.resp = resp

    def limit_output(self, size: int) -> None:
        """Let *out* hold *size* bytes at most; 0: any number."""
        self.out.limit = min(size, MOST_OUTPUT)

    def enter_multi(self) -> None:
        """What follows is queued until EXEC."""
        self.set_flag(IN_MULTI)
        self.queue = CommandQueue()
        self.dirty_exec = False

    def leave_multi(self) -> None:
        """The transaction is over, whether it ran or not."""
        self.clear_flag(IN_MULTI)
        self.queue = NO_COMMANDS
        self.dirty_exec = False

    def refuse(self, error: ErrorReply) -> None:
        """Answer *error* in place of all answers so far, and disconnect when it is sent."""
        self.out.truncate(0)
        if self.acks is not None:
            self.acks.refuse()
        self.out.write(error)
        self.close_after_reply = True

    def set_flag(self, flag: int) -> None:
        """Set one of the flags above."""
        self.flags |= flag

    def clear_flag(self, flag: int) -> None:
        """Clear one of the flags above."""
        self.flags &= ~flag


class Standing:
    """A waiter's place in the queue of one of its keys."""

    __slots__ = ("at_next_key",)

    def __init__(self) -> None:
        self.at_next_key: Standing | None = None  # the same waiter's place for another key

    def leave(self) -> None:
        """Take the waiter out of that queue."""

    def go_to_tail(self) -> None:
        """Put the waiter after all others of that queue."""


class Waiter:
    """A client that is parked: what to run again, and until when. new_waiter() makes one."""

    __slots__ = ("argv", "block", "client", "due_ms", "standing", "turn", "wake_at_ms")

    client: Client
    argv: list[bytes]
    block: Block
    due_ms: int  # 0: never
    standing: Standing | None  # in the queue of one of its keys
    turn: int  # when it was last run again
    wake_at_ms: int  # when it is run again although no key is ready; 0: never


def new_waiter(client: Client, argv: list[bytes], block: Block, due_ms: int) -> Waiter:
    """A waiter that stands in no queue yet; *due_ms* is 0 if it waits without end."""
    made = Waiter.__new__(Waiter)
    made.client = client
    made.argv = argv
    made.block = block
    made.due_ms = due_ms
    made.standing = None
    made.turn = 0
    made.wake_at_ms = 0
    return made


def is_printable(text: bytes) -> bool:
    """Whether *text* may stand in a line of CLIENT LIST: no blanks, nothing beyond ASCII."""
    return all(0x21 <= byte <= 0x7E for byte in text)
