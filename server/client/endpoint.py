"""The server's end of a client's connection: the calls that a transport and the dispatcher make."""

from __future__ import annotations

from typing import NamedTuple

from protocol.replies import ErrorReply


class Buffers(NamedTuple):
    """What a connection holds of its client's requests and replies, in bytes.

    *requests* has a command that runs, too, until all that came with it has been run. *words* are
    those so far of a command that is not all there yet. *replies* are in so many *pieces*.
    """

    requests: int = 0
    room: int = 0  # that is spare besides the requests
    words: int = 0
    replies: int = 0  # that the socket has not taken yet
    pieces: int = 0
    waiting: int = 0  # bytes of replies that wait for replicas, with what is kept of them
    portions: int = 0  # that these are in


NO_BUFFERS = Buffers()


class Endpoint:
    """Driven by a transport as an asyncio.Protocol is; the dispatcher has it send the answers.

    While *wants_buffer* is set, what comes is to be received into get_buffer() and told by
    buffer_updated(), as with an asyncio.BufferedProtocol.

    *is_to_send* and *next_to_send* are the turn's: the chain of those whose answers it will send.
    """

    __slots__ = ("is_to_send", "next_to_send", "wants_buffer")

    def __init__(self) -> None:
        self.wants_buffer = False
        self.is_to_send = False
        self.next_to_send: Endpoint | None = None

    # ------------------------------------------------------------------ what the transport calls

    def data_received(self, data: bytes) -> None:
        """Take what has come."""

    def get_buffer(self) -> memoryview:
        """Where to receive what comes next. To be asked again each time, while wants_buffer is set.

        Raises MemoryError.
        """
        raise NotImplementedError

    def buffer_updated(self, size: int) -> None:
        """*size* bytes have come into the buffer."""

    def eof_received(self) -> None:
        """Nothing more will come. The endpoint closes."""

    def connection_lost(self) -> None:
        """The socket is closed."""

    def pause_writing(self) -> None:
        """The socket takes no more for now: what is written waits. What comes is read as before."""

    def sent_some(self) -> None:
        """The socket has taken more, and not yet all."""

    def resume_writing(self) -> None:
        """The socket has taken all."""

    # ------------------------------------------------------------------ what the dispatcher calls

    def send(self) -> None:
        """Hand the answers so far to the socket."""

    def set_apart(self) -> None:
        """Hold apart what has been answered and waits for replicas. Nothing leaves now."""

    def refuse(self, error: ErrorReply) -> None:
        """Replace all answers so far by *error*, and close when it is sent."""

    def disconnect(self) -> None:
        """Close at once: what has not been sent is lost."""

    def flush(self) -> None:
        """Have what the client's *out* holds sent when this turn of the loop ends."""

    def resume(self) -> None:
        """The client's wait is over: send its reply, and run what was pipelined after it."""

    def buffers(self) -> Buffers:
        """What is held here of requests and replies. O(1)."""
        return NO_BUFFERS

    def unsent(self) -> int:
        """Bytes of replies that the socket has not taken yet."""
        return 0


NO_ENDPOINT = Endpoint()  # of a client that has no connection, or none any more
