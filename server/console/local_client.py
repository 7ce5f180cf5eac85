"""A client without a socket: requests in, replies out, by a Connection like anybody's.

    run(argv) -> Connection -> dispatcher ... the end of the turn: the AOF is written ... -> write()
                                                                                               |
                                                               Hearer.answered(reply)  <-------'

So all that holds for clients holds for who sits at a browser: users and their rights, maxclients,
protected mode, CLIENT LIST (with the browser's address) and CLIENT KILL, the slow log, MONITOR,
CLIENT PAUSE, limits of memory. A reply comes when it would have left the server, and not before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from protocol.encoder import Encoder
from server.client import closed
from server.client.client import Client
from server.console.replies import after_pushes, error_reply
from server.dispatch.dispatcher import Dispatcher
from server.network.clients import Clients
from server.network.connection import Connection
from server.network.transport import Transport
from server.parts.access.access import Access

NAME = b"console"  # in CLIENT LIST
RESP = 3

# These defend the server against a person, or a script of his, who asks for more than it can hold.
MOST_REPLY = 8 * 1024**2  # bytes; a longer reply is dropped, and an error stands in its place
MOST_OUTPUT = 64 * 1024**2  # bytes; at these the command is stopped, and its client disconnected

TOO_LONG = error_reply(
    f"ERR the command has run, but its answer is longer than {MOST_REPLY // 1024**2} MB, which is "
    "the console's limit: ask for less"
)


class Hearer(ABC):
    """Who is told of the replies."""

    @abstractmethod
    def answered(self, reply: bytes) -> None:
        """The command has been answered, with *reply* in RESP3. Called while replies are sent."""

    @abstractmethod
    def left(self) -> None:
        """The client is disconnected: killed, evicted, its user removed, or refused."""


class LocalClient(Transport):
    """One client, of a browser at *address*. It runs one command at a time."""

    def __init__(
        self, dispatcher: Dispatcher, clients: Clients, address: str, local_address: str
    ) -> None:
        self.fd = -1
        self.address = address
        self.local_address = local_address
        self._waits = dispatcher.waits
        self._hearer: Hearer | None = None
        self._held = 0  # bytes of replies that have not been passed on yet
        self._is_running = False
        self.ran_ms = 0  # what time it was for the last command, in unix ms
        self._connection: Connection | None = Connection(dispatcher, clients)
        self._connection.connection_made(self)
        self.client: Client = self._connection.client
        self.client.limit_output(min(self.client.out.limit or MOST_OUTPUT, MOST_OUTPUT))

    def tell(self, hearer: Hearer) -> None:
        """From now on *hearer* is told of what comes."""
        self._hearer = hearer

    def become(self, access: Access, other: LocalClient) -> None:
        """Be a further connection of who is logged in as *other*."""
        access.join(self.client, other.client)
        self.client.speak(RESP)
        self.client.name = NAME

    def touch(self, now_ms: int) -> None:
        """Somebody is there, although he has nothing run: `timeout` is not for him."""
        self.client.last_used_ms = now_ms

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def is_held(self) -> bool:
        """Whether its command goes on and on (a script), or is held back (CLIENT PAUSE)."""
        return self.client.waiter is not None or self.client.postponed is not None

    def run(self, argv: list[bytes]) -> None:
        """Run one command. Its reply comes when the turn ends, or later."""
        connection = self._connection
        if connection is not None:
            self._is_running = True
            connection.data_received(request(argv))
            self.ran_ms = self.client.last_used_ms
            self.end_wait()

    def end_wait(self) -> None:
        """If the command waits for what others do, end that: a view would wait with it.

        One that only has not looked at all yet (XREAD WHERE) may go on.
        """
        waiter = self.client.waiter
        if self._connection is not None and waiter is not None and not waiter.block.reads_on:
            self._waits.end(waiter, waiter.block.when_over)

    def let_go(self, size: int) -> None:
        """*size* bytes of replies have been passed on: they are held no more."""
        self._held -= size
        connection = self._connection
        if connection is None:
            return
        if self._held:
            connection.sent_some()
        else:
            connection.resume_writing()

    # ------------------------------------------------------------------ what the connection calls

    def write(self, out: Encoder) -> None:
        connection = self._connection
        if connection is None:
            out.clear()
            return
        if out.size() > MOST_REPLY:
            out.clear()
            reply = TOO_LONG
        else:
            reply = after_pushes(b"".join(out.take_pieces()))
        is_asked = self._is_running or self.client.close_after_reply  # or refused from the start
        if reply and is_asked and self._hearer is not None:
            self._is_running = False
            self._held += len(reply)
            connection.pause_writing()  # so that what is held is counted as the client's
            self._hearer.answered(reply)

    def unsent(self) -> int:
        return self._held

    def unsent_pieces(self) -> int:
        return 1 if self._held else 0

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        closed.keep(self)
        closed.keep(connection)
        connection.connection_lost()
        hearer, self._hearer = self._hearer, None
        if hearer is not None:
            hearer.left()


def request(argv: list[bytes]) -> bytes:
    """*argv* as a client sends it."""
    words = b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in argv])
    return b"*%d\r\n%b" % (len(argv), words)
