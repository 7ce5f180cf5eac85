"""A connection that speaks HTTP/1.1: bytes to requests, answers to bytes, by h11.

It lives on the server's transports, as a client's connection does, and in the server's turns:
there is no task and no future, and what a site answers leaves after the AOF is written, as all
replies do.

    head, body  ->  serve()  ->  respond(): whole, at the end of the turn
                                 begin():   a piece a turn, until the socket takes no more
                                 then the next request, if the peer keeps the connection

Requests that are pipelined wait in h11 until the one before them is answered, and the peer has
taken that; then they come one a turn.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import h11

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.endpoint import Endpoint
from server.dispatch.turn import Turn
from server.http.messages import (
    SMALL_BODY,
    Body,
    Exchange,
    Headers,
    Request,
    Response,
    Sites,
)
from server.http.peers import Peers
from server.network.transport import Transport
from server.process import faults

# These defend the server against all who can connect.
MOST_HEAD = 16 * 1024  # bytes of a request's line and headers
MOST_PIPELINED = 64 * 1024  # bytes that may come and wait, for the request before them
MOST_EVENTS = 64  # of h11 that are taken in a turn: about a millisecond, of a body in tiny chunks
MOST_WORDS = 64  # in a query

BODILESS = (204, 304)  # these have no body, and no length of one

NOT_FOUND = Response(404, b"not found\n")
TOO_LARGE = Response(413, b"request body too large\n")
FAILED = Response(500, b"the server has failed to answer\n")
REFUSED = Response(503, b"refused: changes cannot be made safe on the disk\n")

_log = logging.getLogger("penstock")


class HttpConnection(Endpoint, Exchange):
    """Lives as long as its socket. *peers* are all such connections, with their limits."""

    __slots__ = (
        "_body",
        "_have",
        "_heard",
        "_is_asked",
        "_is_closed",
        "_is_ending",
        "_is_tls",
        "_is_to_read",
        "_most_body",
        "_out",
        "_parser",
        "_peers",
        "_request",
        "_sites",
        "_transport",
        "_turn",
        "heard_ms",
        "is_backed_up",
        "is_waiting",
    )

    def __init__(
        self, transport: Transport, sites: Sites, turn: Turn, peers: Peers, is_tls: bool
    ) -> None:
        Endpoint.__init__(self)
        self._transport = transport
        self._sites = sites
        self._turn = turn
        self._peers = peers
        self._is_tls = is_tls
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._out = Encoder()
        self._request: h11.Request | None = None  # its head is here, and perhaps all of it
        self._have = bytearray()  # of its body
        self._most_body = 0  # bytes of it that may come
        self._body: Body | None = None  # that is being sent
        self._is_asked = False  # for its next piece, in a turn to come
        self._is_to_read = False  # what has come, in a turn to come
        self.is_backed_up = False  # the socket has not taken all that it was given
        self._is_ending = False  # what was answered is sent, and no more
        self._is_closed = False
        self.heard_ms = peers.now_ms  # when enough has come, or was taken
        self._heard = 0  # bytes that have come since
        self.is_waiting = True  # for a request, or the rest of one

    # ------------------------------------------------------------------ what the transport calls

    def data_received(self, data: bytes) -> None:
        self._turn.enter()
        if self._is_ending:
            return
        self._hear(len(data))
        self._parser.receive_data(data)
        if not self._is_to_read:
            self._read()
        if len(self._parser.trailing_data[0]) > MOST_PIPELINED:
            self.disconnect()

    def _hear(self, size: int) -> None:
        """So many bytes have come. A trickle of them is no reason to wait on."""
        self._heard += size
        if self._heard > MOST_HEAD and not self.is_backed_up:
            self._heard = 0
            self.heard_ms = self._peers.now_ms

    def eof_received(self) -> None:
        """The peer sends nothing more. Nobody closes half a connection and waits for an answer."""
        self.disconnect()

    def connection_lost(self) -> None:
        self._is_closed = True
        self._peers.left(self)
        self._leave_body()

    def pause_writing(self) -> None:
        self.is_backed_up = True
        self.heard_ms = self._peers.now_ms

    def sent_some(self) -> None:
        self.heard_ms = self._peers.now_ms

    def resume_writing(self) -> None:
        self.is_backed_up = False
        self.heard_ms = self._peers.now_ms
        self._turn.enter()
        self.wake()
        self._read_later()

    # ------------------------------------------------------------------ requests

    def _read_later(self) -> None:
        """In a turn to come, take what waits: others are served before."""
        if self._parser.trailing_data[0] and not self._is_to_read:
            self._is_to_read = True
            self._turn.run_later(self._read)

    def _read(self) -> None:
        """Take what has come: of one request at most, and of none while the peer takes nothing."""
        self._is_to_read = False
        for _ in range(MOST_EVENTS):
            if self.is_backed_up or self._is_ending or self._is_closed or not self.is_waiting:
                return
            try:
                event = self._parser.next_event()
            except h11.RemoteProtocolError as error:
                self._refuse(error)
                return
            if event is h11.NEED_DATA:
                self._ask_for_body()
                return
            if not self._take(event):
                return
        self._read_later()

    def _take(self, event: Any) -> bool:
        """Take one event of h11. Whether there may be another in this turn."""
        if isinstance(event, h11.Request):
            self._request, self._have = event, bytearray()
        elif isinstance(event, h11.Data):
            if not self._have:
                self._most_body = self._find_most_body()
            if len(self._have) + len(event.data) > self._most_body:
                self._answer(TOO_LARGE, is_last=True)
                return False
            self._have += event.data
        elif isinstance(event, h11.EndOfMessage):
            self.is_waiting = False
            self._serve()
            return False
        else:  # PAUSED, or ConnectionClosed
            return False
        return True

    def _find_most_body(self) -> int:
        """How long the site lets the body of this request be."""
        try:
            request = self._whole_request()
        except ValueError:  # it is refused when it is whole
            return SMALL_BODY
        site = self._sites.find(request.path)
        return SMALL_BODY if site is None else site.most_body(request)

    def _ask_for_body(self) -> None:
        """Send `100 Continue` to a peer that waits for it before it sends its body."""
        if self._parser.they_are_waiting_for_100_continue:
            self._put(h11.InformationalResponse(status_code=100, headers=[]))
            self._turn.send_later(self)

    def _refuse(self, error: h11.RemoteProtocolError) -> None:
        """What has come is no HTTP."""
        if self._parser.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            text = f"{error}\n".encode("ascii", "replace")
            self._answer(Response(error.error_status_hint, text), is_last=True)
        else:
            self.disconnect()

    def _serve(self) -> None:
        try:
            request = self._whole_request()
            site = self._sites.find(request.path)
            if site is None:
                self.respond(NOT_FOUND)
            else:
                site.serve(request, self)
        except ValueError as error:  # of the target: it cannot be read
            _log.debug("bad request from %s: %s", self._transport.address, error)
            self.respond(Response(400, b"bad request\n"))
        except Exception as error:
            faults.report("answering a request over HTTP", error)
            self._fail()

    def _fail(self) -> None:
        """The site has failed: say so if nothing was said yet, else disconnect."""
        if self._parser.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._answer(FAILED, is_last=True)
        else:
            self.disconnect()

    def _whole_request(self) -> Request:
        """The request that has come. Raises ValueError if its target cannot be read."""
        head = self._request
        assert head is not None
        target = urlsplit(head.target.decode("ascii"))
        query = dict(parse_qsl(target.query, keep_blank_values=True, max_num_fields=MOST_WORDS))
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
        return Request(
            head.method.decode("ascii"), unquote(target.path), query, headers,
            bytes(self._have), self._transport.address, self._transport.local_address, self._is_tls,
        )  # fmt: skip

    # ------------------------------------------------------------------ answers

    def respond(self, response: Response) -> None:
        if not self._is_closed and not self.is_waiting:
            self._answer(response)

    def _answer(self, response: Response, is_last: bool = False) -> None:
        headers = list(response.headers)
        if response.status not in BODILESS:
            headers[:0] = [
                ("content-type", response.kind),
                ("content-length", str(len(response.body))),
            ]
        if is_last:
            headers.append(("connection", "close"))
        self._put(h11.Response(status_code=response.status, headers=headers))
        if response.body and not self._is_head():
            self._put(h11.Data(data=response.body))
        self._put(h11.EndOfMessage())
        self._answered()

    def _is_head(self) -> bool:
        return self._request is not None and self._request.method == b"HEAD"

    def begin(self, body: Body, kind: str, headers: Headers = ()) -> None:
        if self._is_closed or self.is_waiting:
            body.gone()
            return
        self._put(h11.Response(status_code=200, headers=[("content-type", kind), *headers]))
        self._body = body
        if self._is_head():
            self._put(h11.EndOfMessage())
            self._leave_body()
            self._answered()
        else:
            self._turn.send_later(self)
            self.wake()

    def wake(self) -> None:
        if self._body is not None and not (self._is_asked or self.is_backed_up):
            self._is_asked = True
            self._turn.run_later(self._send_more)

    def _send_more(self) -> None:
        """Ask the body for one piece; more of them follow in turns of their own."""
        self._is_asked = False
        body = self._body
        if body is None or self.is_backed_up:
            return
        try:
            piece = body.more()
        except Exception as error:
            faults.report("answering a request over HTTP", error)
            self.disconnect()
            return
        if piece is None:
            self._put(h11.EndOfMessage())
            self._leave_body()
            self._answered()
        elif piece:
            self._put(h11.Data(data=piece))
            self._turn.send_later(self)
            self.wake()

    def _leave_body(self) -> None:
        body, self._body = self._body, None
        if body is not None:
            body.gone()

    def _put(self, event: Any) -> None:
        self._out.raw(self._parser.send(event) or b"")

    def _answered(self) -> None:
        """All of an answer is written: send it, and look for the next request."""
        self._turn.send_later(self)
        self.heard_ms, self._heard = self._peers.now_ms, 0
        self.is_waiting = True
        self._request = None
        self._have = bytearray()
        if self._parser.our_state is h11.DONE and self._parser.their_state is h11.DONE:
            self._parser.start_next_cycle()
            self._read_later()
        else:
            self._is_ending = True

    # ------------------------------------------------------------------ what the turn calls

    def send(self) -> None:
        if self._is_closed:
            return
        if self._out.size():
            self._transport.write(self._out)
        if self._is_ending and not self._is_closed:
            self._transport.close()

    def refuse(self, _error: ErrorReply) -> None:
        """The AOF could not be written: what was to be sent must not be."""
        self._out.clear()
        self._leave_body()
        self._is_ending = True

    def disconnect(self) -> None:
        self._transport.abort()

    def unsent(self) -> int:
        return self._transport.unsent()
