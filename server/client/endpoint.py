"""The server's end of a client's connection: the calls that a transport and the dispatcher make."""

from __future__ import annotations

from protocol.replies import ErrorReply


class Endpoint:
    """Driven by a transport as an asyncio.Protocol is; the dispatcher has it send the answers.

    While *wants_buffer* is set, what comes is to be received into get_buffer() and told by
    buffer_updated(), as with an asyncio.BufferedProtocol.
    """

    __slots__ = ("wants_buffer",)

    def __init__(self) -> None:
        self.wants_buffer = False

    # ------------------------------------------------------------------ what the transport calls

    def data_received(self, data: bytes) -> None:
        """Take what has come."""

    def get_buffer(self) -> memoryview:
        """Where to receive what comes next. To be asked anew each time, while wants_buffer is set.

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

    def refuse(self, error: ErrorReply) -> None:
        """Replace all answers so far by *error*, and close when it is sent."""

    def disconnect(self) -> None:
        """Close at once: what has not been sent is lost."""

    def flush(self) -> None:
        """Have what the client's *out* holds sent when this turn of the loop ends."""

    def resume(self) -> None:
        """The client's wait is over: send its reply, and run what was pipelined behind it."""

    def unread(self) -> int:
        """Bytes of requests that have come and have not been run yet."""
        return 0

    def unsent(self) -> int:
        """Bytes of replies that the socket has not taken yet."""
        return 0


NO_ENDPOINT = Endpoint()  # of a client that has no connection, or none any more
