"""TLS on one connection: a layer between the socket's transport and the connection.

    the socket's   --> TlsEndpoint --> session.read  --> data_received -->   the connection
    transport      <-- TlsTransport <- session.write <------- write <-----

OpenSSL never sees the socket. It reads from one buffer in memory and writes to another. So a read
costs one system call whatever the records are, and all that holds for plain connections (turns,
back-pressure, limits) holds for these.

A long reply is encrypted in portions, each when the socket has taken the one before: what waits is
the reply itself, which other clients may share, and no more than one portion of its encryption.
"""

from __future__ import annotations

import contextlib
from ssl import MemoryBIO, SSLContext, SSLError, SSLObject, SSLWantReadError
from typing import Any

from protocol.encoder import Encoder
from server.client import closed
from server.client.endpoint import Endpoint
from server.network.send_queue import SendQueue
from server.network.tls import openssl
from server.network.transport import Transport

RECORD = 16 * 1024  # bytes of data that a record of TLS holds at most
PORTION = 16 * RECORD  # bytes that are encrypted before the socket is asked whether it takes more


class TlsTransport(Transport):
    """Encrypts what the connection writes, and decrypts what *below*, the socket's transport, gets.

    The handshake comes first: take() and shake_hands() in turns. Then open() begins to serve.
    """

    __slots__ = (
        "_below",
        "_decipher",
        "_encipher",
        "_endpoint",
        "_has_ended",
        "_incoming",
        "_is_closing",
        "_is_paused",
        "_outgoing",
        "_queue",
        "_sealed",
        "_session",
        "is_open",
    )

    def __init__(self, below: Transport, context: SSLContext, is_server: bool = True) -> None:
        self.fd = below.fd
        self.address = below.address
        self.local_address = below.local_address
        self._below = below
        self._incoming = MemoryBIO()
        self._outgoing = MemoryBIO()
        self._session: SSLObject = context.wrap_bio(self._incoming, self._outgoing, is_server)
        self._decipher, self._encipher = openssl.reader_and_writer(self._session)
        self._endpoint: Endpoint | None = None  # not open yet, or closed
        self.is_open = False  # the handshake is done
        self._sealed = Encoder()  # encrypted, and not handed to the socket's transport yet
        self._queue = SendQueue()  # not encrypted yet
        self._is_paused = False  # the socket takes no more for now
        self._is_closing = False
        self._has_ended = False  # the client sends nothing more

    # ------------------------------------------------------------------ the handshake

    def take(self, data: bytes) -> int:
        """Keep *data* for the next step of the handshake; how many bytes wait for it now."""
        self._incoming.write(data)
        return self._incoming.pending

    def shake_hands(self) -> bool:
        """Continue the handshake; whether it is done. Raises SSLError.

        The first step costs a signature, about a millisecond with an RSA key.
        """
        try:
            self._session.do_handshake()
        except SSLWantReadError:
            return False
        finally:
            self._send_sealed()  # in case of an error it tells the client which
        return True

    def peer_name(self) -> str:
        certificate: Any = self._session.getpeercert() or {}
        names: dict[str, str] = {}
        for part in certificate.get("subject", ()):
            names.update(part)
        return names.get("commonName", "")

    def open(self, endpoint: Endpoint) -> None:
        """Serve *endpoint* from now on, with what has come after the handshake."""
        self._endpoint = endpoint
        self.is_open = True
        self._decrypt(RECORD)

    # ------------------------------------------------------------------ what the socket gets

    def received(self, data: bytes) -> None:
        """Decrypt *data*, a record at a time: so the buffers that OpenSSL keeps remain small."""
        if len(data) <= RECORD:
            self._incoming.write(data)
            self._decrypt(len(data))
            return
        view = memoryview(data)
        for start in range(0, len(data), RECORD):
            self._incoming.write(view[start : start + RECORD])
            self._decrypt(RECORD)

    def _decrypt(self, size: int) -> None:
        """Hand on what whole records have come, with the last *size* bytes.

        A record that nobody can have sent ends it all.
        """
        try:
            self._read_records(size)
        except SSLWantReadError:
            pass
        except SSLError:
            self._send_sealed()  # the alert
            self.abort()
            return
        if self._outgoing.pending:  # a client may ask for new keys
            self._send_sealed()

    def _read_records(self, most: int) -> None:
        """Read *most* bytes at first: enough, unless a record has begun in what came before.

        OpenSSL is given memory for as many, so a short request should not cost that of a record.
        """
        session, incoming, decipher = self._session, self._incoming, self._decipher
        has_more = True
        while has_more:
            endpoint = self._endpoint
            if endpoint is None or self._is_closing or self._has_ended:
                incoming.read()
                return
            if endpoint.wants_buffer:
                size = decipher(RECORD, endpoint.get_buffer())
                if size:
                    endpoint.buffer_updated(size)
                has_more = bool(incoming.pending or session.pending())
            else:
                data = decipher(most)
                size = len(data)
                if size:
                    endpoint.data_received(data)
                has_more = bool(size == most or incoming.pending)
                most = RECORD
            if not size:
                self.ended()  # by a close_notify

    def ended(self) -> None:
        """The client sends nothing more, whether it has said so in TLS or not."""
        if self._endpoint is not None and not self._has_ended:
            self._has_ended = True
            self._endpoint.eof_received()

    # ------------------------------------------------------------------ what the connection calls

    def write(self, out: Encoder) -> None:
        if self._endpoint is None:
            out.clear()
        elif self._is_paused or out.size() > PORTION:
            self._queue.add(out)
            self._write_portions()
        else:
            if out.size() <= RECORD:
                self._encipher(out.take())
            else:
                self._encrypt(memoryview(out.take()))
            self._send_sealed()

    def _write_portions(self) -> None:
        """Encrypt and hand on one portion after the other, until the socket takes no more."""
        while self._queue.size and not self._is_paused:
            left = PORTION
            while self._queue.size and left > 0:
                data = memoryview(self._queue.take(left))
                left -= len(data)
                self._encrypt(data)
            self._send_sealed()

    def _encrypt(self, data: memoryview) -> None:
        """Put *data* into records. OpenSSL makes one at a time, and its buffer has one at most."""
        while True:
            size = self._encipher(data)
            if size == len(data):
                return
            self._sealed.append_shared(self._outgoing.read())
            data = data[size:]

    def _send_sealed(self) -> None:
        """Hand on all that is encrypted by now."""
        self._sealed.append_shared(self._outgoing.read())
        if self._sealed.size():
            self._below.write(self._sealed)

    def unsent(self) -> int:
        return self._queue.size + self._below.unsent()

    def unsent_pieces(self) -> int:
        return self._queue.piece_count() + self._below.unsent_pieces()

    def pause_reading(self) -> None:
        self._below.pause_reading()

    def resume_reading(self) -> None:
        self._below.resume_reading()

    def close(self) -> None:
        self._is_closing = True
        if not self._queue.size:
            self._say_goodbye()
            self._below.close()

    def abort(self) -> None:
        if not self._is_paused:
            self._say_goodbye()
        self._below.abort()

    def _say_goodbye(self) -> None:
        """Tell the client that nothing more comes: nobody else has cut the connection."""
        with contextlib.suppress(SSLError):  # it has not said so yet, or there is no session yet
            self._session.unwrap()
        self._send_sealed()

    # ------------------------------------------------------------------ what the socket does

    def paused(self) -> None:
        """The socket takes no more for now."""
        self._is_paused = True
        if self._endpoint is not None:
            self._endpoint.pause_writing()

    def sent_some(self) -> None:
        """The socket has taken more, and not yet all."""
        if self._endpoint is not None:
            self._endpoint.sent_some()

    def resumed(self) -> None:
        """The socket has taken all: give it the next portions."""
        self._is_paused = False
        self._write_portions()
        endpoint = self._endpoint
        if endpoint is None:
            return
        if self._is_paused:
            endpoint.sent_some()
        elif self._is_closing:
            self.close()
        else:
            endpoint.resume_writing()

    def lost(self) -> None:
        """The socket is closed."""
        endpoint, self._endpoint = self._endpoint, None
        self.fd = -1
        self._queue.clear()
        if endpoint is not None:
            closed.keep(endpoint)
            endpoint.connection_lost()
