"""One client as the server knows it: who it is, what it has chosen, what it waits for.

A client has no socket here: its connection gives it a way to be hung up on, and takes what its
*out* has collected.
"""

from __future__ import annotations

from collections.abc import Callable

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.command_queue import NO_COMMANDS, CommandQueue
from server.table.command import Block, Command

# Why a client's next command cannot simply run: bits of Client.gate.
UNAUTHENTICATED = 1
IN_MULTI = 2
MUTED = 4  # CLIENT REPLY OFF or SKIP


class Client:
    """One connected client. *gate* is 0 in the common case: its commands run with no more ado."""

    __slots__ = (
        "address",
        "close_after_reply",
        "commands",
        "created_ms",
        "db_index",
        "dirty_exec",
        "dirty_watch",
        "fd",
        "gate",
        "hang_up",
        "held",
        "id",
        "last_command",
        "last_used_ms",
        "lib_name",
        "lib_version",
        "local_address",
        "name",
        "no_evict",
        "no_touch",
        "out",
        "postponed",
        "queue",
        "received",
        "resume",
        "skip",
        "unread",
        "unsent",
        "user",
        "waiter",
        "watching",
        "written_offset",
    )

    def __init__(self, client_id: int, now_ms: int) -> None:
        self.id = client_id
        self.out = Encoder(2)
        self.db_index = 0
        self.gate = 0
        self.name = b""
        self.lib_name = b""
        self.lib_version = b""
        self.user = "default"
        self.address = ""  # ip:port, or path:0 on a unix socket
        self.local_address = ""
        self.fd = -1
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.last_command: Command | None = None
        self.commands = 0
        self.received = 0  # bytes
        self.held = 0  # bytes of what it sent and has not taken, when its connection last looked
        self.no_evict = False
        self.no_touch = False
        self.skip = 0  # how many answers CLIENT REPLY SKIP still swallows
        self.queue = NO_COMMANDS  # between MULTI and EXEC
        self.dirty_exec = False  # something could not be queued: EXEC must refuse
        self.dirty_watch = False  # a watched key has changed: EXEC must answer null
        self.watching: dict[tuple[int, bytes], None] = {}  # an ordered set
        self.written_offset = 0  # of the log's end after the client's last write
        self.waiter: Waiter | None = None  # while blocked
        self.postponed: list[bytes] | None = None  # the command that CLIENT PAUSE holds back
        self.close_after_reply = False
        self.unread: Callable[[], int] = _no_bytes  # of requests that have not been run yet
        self.unsent: Callable[[], int] = _no_bytes  # of replies that the socket has not taken yet
        self.hang_up: Callable[[], None] = _nothing  # closes the connection at once
        self.resume: Callable[[], None] = _nothing  # go on with what was pipelined behind a wait

    @property
    def resp(self) -> int:
        """The protocol version it speaks: 2 or 3."""
        return self.out.resp

    @property
    def in_multi(self) -> bool:
        return bool(self.gate & IN_MULTI)

    @property
    def authenticated(self) -> bool:
        return not self.gate & UNAUTHENTICATED

    @property
    def is_muted(self) -> bool:
        return bool(self.gate & MUTED)

    def argv_bytes(self) -> int:
        """Bytes of the command that it waits with: for a key, or a pause's end."""
        argv = self.waiter.argv if self.waiter is not None else self.postponed
        size = 0
        if argv is not None:
            for word in argv:
                size += len(word)
        return size

    def disconnected(self) -> None:
        """There is no connection any more: let go of what leads to it.

        The two know each other, and cycles are collected rarely.
        """
        self.hang_up = self.resume = _nothing
        self.unread = _no_bytes

    def enter_multi(self) -> None:
        """What follows is queued until EXEC."""
        self.shut_gate(IN_MULTI)
        self.queue = CommandQueue()
        self.dirty_exec = False

    def leave_multi(self) -> None:
        """The transaction is over, whether it ran or not."""
        self.open_gate(IN_MULTI)
        self.queue = NO_COMMANDS
        self.dirty_exec = False

    def refuse(self, error: ErrorReply) -> None:
        """Let it have *error* in place of all that was answered, and be hung up on."""
        self.out.truncate(0)
        self.out.write(error)
        self.close_after_reply = True

    def open_gate(self, reason: int) -> None:
        """*reason* (UNAUTHENTICATED, IN_MULTI or MUTED) holds no more."""
        self.gate &= ~reason

    def shut_gate(self, reason: int) -> None:
        """*reason* holds from now on."""
        self.gate |= reason


class Standing:
    """A waiter's place in the queue of one of its keys."""

    __slots__ = ("at_next_key",)

    def __init__(self) -> None:
        self.at_next_key: Standing | None = None  # the same waiter's place for another key

    def leave(self) -> None:
        """Take the waiter out of that queue."""

    def go_to_tail(self) -> None:
        """Put the waiter behind all others of that queue."""


class Waiter:
    """A client that is parked: what to run again, and until when."""

    __slots__ = ("argv", "block", "client", "due_ms", "standing", "turn")

    def __init__(self, client: Client, argv: list[bytes], block: Block, due_ms: int) -> None:
        self.client = client
        self.argv = argv
        self.block = block
        self.due_ms = due_ms  # 0: never
        self.standing: Standing | None = None  # in the queue of one of its keys
        self.turn = 0  # when it was last run again


def _nothing() -> None:
    """Stand in until the connection sets its own."""


def _no_bytes() -> int:
    """Stand in until the connection knows better."""
    return 0


def is_printable(text: bytes) -> bool:
    """Whether *text* may stand in a line of CLIENT LIST: no blanks, nothing beyond ASCII."""
    return all(0x21 <= byte <= 0x7E for byte in text)
