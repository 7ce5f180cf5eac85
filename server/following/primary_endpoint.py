"""One connection to our primary: the handshake, then perhaps a copy, then the stream."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from protocol.encoder import Encoder
from protocol.requests import ProtocolError
from server.client.endpoint import Endpoint
from server.dispatch.dispatcher import Dispatcher
from server.following.copy_arrival import Receiving
from server.following.primary_stream import BrokenStreamError, PrimaryStream
from server.network.transport import Transport
from server.parts.persistence.snapshot_loader import LoadFailed
from server.parts.replication.handshake import LONGEST_LINE, Continue, Copy, Handshake, LinkFailed
from server.process import faults

ENDS_THE_LINK = (LinkFailed, BrokenStreamError, ProtocolError, OSError, LoadFailed)


class Link(Protocol):
    """What an endpoint tells, and asks; see server/following/primary_link.py."""

    @property
    def dispatcher(self) -> Dispatcher:
        """Runs the primary's commands."""

    def new_handshake(self) -> Handshake:
        """What is said first."""

    def heard(self, size: int) -> None:
        """*size* bytes have come."""

    def answered(self, endpoint: PrimaryEndpoint, outcome: Copy | Continue) -> None:
        """The primary has answered PSYNC."""

    def copied(self, receiving: Receiving) -> None:
        """The copy is there."""

    def ack_if_asked(self) -> None:
        """The turn is over: tell how far we are, if the primary has asked."""

    def refused(self, error: Exception) -> None:
        """The connection has to end, for *error*."""

    def lost(self, endpoint: PrimaryEndpoint) -> None:
        """The connection is closed, by whomever."""


class PrimaryEndpoint(Endpoint):
    """One connection to the primary, by *transport*. What comes is read by the state it is in."""

    def __init__(self, link: Link, transport: Transport) -> None:
        super().__init__()
        self._link = link
        self.transport = transport
        self._out = Encoder(2)
        self._handshake: Handshake | None = link.new_handshake()
        self._line = b""  # of the handshake, so far
        self._receiving: Receiving | None = None
        self._stream: PrimaryStream | None = None
        self._held: list[bytes] = []  # has come while a copy is loaded
        self._is_closed = False

    # ------------------------------------------------------------------ what is said

    def resume(self) -> None:
        """The socket is served: begin."""
        if self._handshake is not None:
            self.say(self._handshake.next())

    def say(self, words: list[bytes]) -> None:
        """Send a command."""
        self._out.array(len(words))
        for word in words:
            self._out.bulk(word)
        self.send()

    def say_raw(self, data: bytes) -> None:
        """Send *data* as it is."""
        self._out.raw(data)
        self.send()

    def send(self) -> None:
        if self._is_closed:
            self._out.clear()
        else:
            self._link.ack_if_asked()
            if self._out.size():
                self.transport.write(self._out)

    def disconnect(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.transport.abort()

    def unsent(self) -> int:
        return self.transport.unsent()

    # ------------------------------------------------------------------ what comes

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        self._link.heard(len(data))
        self._guarded(partial(self._take, data))

    def _guarded(self, call: Callable[[], None]) -> None:
        """Make *call*; what it raises ends the link."""
        try:
            call()
        except ENDS_THE_LINK as error:
            self._link.refused(error)
            self.disconnect()
        except Exception as error:
            faults.report("following the primary, whose link is closed", error)
            self.disconnect()

    def _take(self, data: bytes) -> None:
        if self._stream is not None:
            self._run(data)
        elif self._receiving is not None:
            self._take_copy(data)
        elif self._handshake is None:
            self._held.append(data)
        else:
            self._take_lines(data)

    def _take_lines(self, data: bytes) -> None:
        """Lines of the handshake; after the last one something else begins."""
        lines = self._line + data
        while self._handshake is not None:
            line, ending, rest = lines.partition(b"\n")
            if not ending:
                break
            lines = rest
            if self._handshake.take(line.removesuffix(b"\r")):
                self.say(self._handshake.next())
            elif self._handshake.outcome is not None:
                outcome, self._handshake = self._handshake.outcome, None
                self._line = b""
                self._link.answered(self, outcome)
                if lines:
                    self._take(lines)
                return
        self._line = lines
        if len(lines) > LONGEST_LINE:
            raise LinkFailed("Bad protocol from MASTER: a line without an end")

    def receive_copy(self, receiving: Receiving) -> None:
        """What comes now is a copy."""
        self._receiving = receiving

    def _take_copy(self, data: bytes) -> None:
        receiving = self._receiving
        assert receiving is not None
        rest = receiving.take(data)
        if receiving.is_whole:
            self._receiving = None
            self.transport.pause_reading()
            if rest:
                self._held.append(rest)
            self._link.copied(receiving)

    def receive_stream(self, stream: PrimaryStream) -> None:
        """What comes now, and what has been held, is the stream."""
        self._stream = stream
        self._run_held()
        self.transport.resume_reading()

    def take_held(self) -> None:
        """A script that has run for long is over: run what has come meanwhile."""
        if self._stream is not None and self._held:
            self._guarded(self._run_held)
            self.transport.resume_reading()

    def _run_held(self) -> None:
        held, self._held = self._held, []
        for data in held:
            self._run(data)

    def _run(self, data: bytes) -> None:
        assert self._stream is not None
        dispatcher = self._link.dispatcher
        if self._held or dispatcher.state.restrictions.busy is not None:
            self._held.append(data)  # a script that runs on and on must not see changes
            self.transport.pause_reading()
            return
        dispatcher.turn.enter()
        self._stream.client.last_used_ms = dispatcher.state.events.clock.now_ms
        self._stream.take(data)
        dispatcher.state.replication.stream_db = self._stream.client.db_index
        dispatcher.turn.send_later(self)  # once the AOF is written

    def eof_received(self) -> None:
        self.disconnect()

    def connection_lost(self) -> None:
        self._is_closed = True
        if self._receiving is not None:
            self._receiving.drop()
        self._link.lost(self)
