"""TLS without sockets: both ends in memory, and a wire between them that a test can fill."""

from __future__ import annotations

import ssl

from protocol.encoder import Encoder
from server.client.endpoint import Endpoint
from server.network.acceptor import Acceptor
from server.network.transport import Transport


class Wire(Transport):
    """The transport of a socket, which takes everything until it *is_full*."""

    def __init__(self) -> None:
        self.fd = 7
        self.address, self.local_address = "10.0.0.1:1", "10.0.0.2:2"
        self.endpoint = Endpoint()
        self.sent = b""
        self.kept = b""
        self.is_full = False
        self.is_open = True
        self._is_closing = False

    def write(self, out: Encoder) -> None:
        if not self.is_full:
            self.sent += out.take()
            return
        was_empty = not self.kept
        self.kept += out.take()
        if was_empty:
            self.endpoint.pause_writing()

    def drain(self) -> None:
        """The other end has taken all; the wire fills up again with what comes next."""
        self.sent += self.kept
        self.kept = b""
        if self._is_closing:
            self.abort()
        else:
            self.endpoint.resume_writing()

    def unsent(self) -> int:
        return len(self.kept)

    def close(self) -> None:
        self._is_closing = True
        if not self.kept:
            self.abort()

    def abort(self) -> None:
        if self.is_open:
            self.is_open = False
            self.fd = -1
            self.endpoint.connection_lost()


class Peer:
    """The client at the other end of *wire*."""

    def __init__(self, wire: Wire, context: ssl.SSLContext) -> None:
        self._wire = wire
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")

    def hello(self) -> bytes:
        """The first bytes of a handshake."""
        try:
            self.session.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self._outgoing.read()

    def step(self, first: bytes = b"") -> None:
        """Take what has come; send what follows from it, and *first* if the handshake is done."""
        self._incoming.write(self._wire.sent)
        self._wire.sent = b""
        try:
            self.session.do_handshake()
            if first:
                self.session.write(first)
        except ssl.SSLWantReadError:
            pass
        self.flush()

    def flush(self) -> None:
        if self._outgoing.pending:
            self._wire.endpoint.data_received(self._outgoing.read())

    def encrypted(self, data: bytes) -> bytes:
        self.session.write(data)
        return self._outgoing.read()

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.session.write(view) :]
        self.flush()

    def received(self) -> bytes:
        """What has come and can be decrypted."""
        self._incoming.write(self._wire.sent)
        self._wire.sent = b""
        data = b""
        try:
            while piece := self.session.read(1 << 16):
                data += piece
        except ssl.SSLWantReadError:
            pass
        return data

    def say_goodbye(self) -> None:
        """Send a close_notify."""
        try:
            self.session.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()


class Recorder(Endpoint):
    """The server's end of a connection: keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.data = b""
        self.reads = 0
        self.events: list[str] = []
        self.buffer = bytearray()

    def data_received(self, data: bytes) -> None:
        self.data += data
        self.reads += 1

    def get_buffer(self) -> memoryview:
        return memoryview(self.buffer)

    def buffer_updated(self, size: int) -> None:
        self.data += self.buffer[:size]

    def eof_received(self) -> None:
        self.events.append("eof")

    def connection_lost(self) -> None:
        self.events.append("lost")

    def pause_writing(self) -> None:
        self.events.append("pause")

    def sent_some(self) -> None:
        self.events.append("sent some")

    def resume_writing(self) -> None:
        self.events.append("resume")


class Room(Acceptor):
    """Accepts clients that have shaken hands, as long as there is *space*."""

    def __init__(self) -> None:
        self.space = 100
        self.came: list[Transport] = []
        self.endpoints: list[Recorder] = []

    def room(self) -> int:
        return self.space - len(self.came)

    def connect(self, transport: Transport) -> Endpoint:
        self.came.append(transport)
        self.endpoints.append(Recorder())
        return self.endpoints[-1]
