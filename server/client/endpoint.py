"""A client's connection, as those know it between whom it stands."""

from __future__ import annotations

from protocol.replies import ErrorReply


class Endpoint:
    """What a transport drives, as a loop drives an asyncio.Protocol; what dispatch lets answer."""

    __slots__ = ()

    # ------------------------------------------------------------------ what the transport calls

    def data_received(self, data: bytes) -> None:
        """Take what has come."""

    def eof_received(self) -> None:
        """Nothing more will come. The endpoint closes."""

    def connection_lost(self) -> None:
        """The socket is closed."""

    def pause_writing(self) -> None:
        """The socket takes no more for now; nothing is read from it either."""

    def sent_some(self) -> None:
        """The socket has taken more, and not yet all."""

    def resume_writing(self) -> None:
        """The socket has taken all."""

    # ------------------------------------------------------------------ what dispatch calls

    def send(self) -> None:
        """Hand the answers so far to the socket."""

    def refuse(self, error: ErrorReply) -> None:
        """Let the client have *error* in place of all answers so far, and be hung up on."""

    def hang_up(self) -> None:
        """Close at once."""
