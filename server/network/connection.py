"""One client's socket: bytes to commands, replies to bytes. No meaning here.

A connection submits one command at a time. What is pipelined after a command that waits, or that
a pause holds back, stays in the parser until the client is resumed. All answers to one read leave
in one write, when the turn ends.

Back-pressure: there is none, as in Redis. A client whose socket takes no more is read from and
served nevertheless, since it may be one that sends all its requests before it reads a reply. What
waits for it is bounded by limits, each of which is looked at whenever the socket was given more:

    client-output-buffer-limit   what one client has not taken: it goes       clients.py
    maxmemory-clients            what all clients hold: the greatest go       client_eviction.py
    maxmemory                    the same and the data: keys are evicted      key_eviction.py

It is served once a turn, and by what one read brings, like everybody else.
"""

from __future__ import annotations

import logging

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from protocol.requests import ProtocolError, RequestParser
from server.client.client import ACKS, IN_MULTI, REPLICA, UNAUTHENTICATED, Client
from server.client.endpoint import NO_ENDPOINT, Buffers, Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.network.acceptor import Acceptor
from server.network.clients import Clients
from server.network.transport import Transport

# Answers to one batch are sent in pieces of about this many bytes, so that one client's long
# pipeline of large replies does not build up in memory before the first byte leaves.
FLUSH_AT = 256 * 1024
PIPELINE = 256  # bytes of requests; so many are several commands, or one whose keys do not matter

_log = logging.getLogger("penstock")


class Connection(Endpoint):
    """Lives as long as its socket.

    *clients* is told when it opens (and may refuse it) and when it is gone.
    """

    __slots__ = (
        "_client",
        "_client_eviction",
        "_clients",
        "_closing",
        "_confirmations",
        "_dispatcher",
        "_is_backed_up",
        "_memory",
        "_out",
        "_parser",
        "_running",
        "_transport",
        "_turn",
    )

    def __init__(self, dispatcher: Dispatcher, clients: Clients) -> None:
        self._dispatcher = dispatcher
        self._turn = dispatcher.turn
        self._memory = dispatcher.state.memory
        self._client_eviction = dispatcher.state.client_eviction
        self._confirmations = dispatcher.state.replication.confirmations
        self._clients = clients
        self._parser = RequestParser()
        Endpoint.__init__(self)
        self._running = False
        self._closing = False
        self._is_backed_up = False  # the socket has not taken all that it was given

    @property
    def client(self) -> Client:
        """The client that it serves."""
        return self._client

    # ------------------------------------------------------------------ what the transport calls

    def connection_made(self, transport: Transport) -> None:
        self._transport = transport
        self._turn.enter()
        self._clients.set_limits(self._parser)
        self._client = self._clients.opened(transport, self)
        self._out: Encoder = self._client.out
        if self._client.close_after_reply:  # refused: too many clients, or protected mode
            self._flush()

    def data_received(self, data: bytes) -> None:
        self._begin_batch(len(data))
        self._parser.feed(data)
        self._serve()

    def get_buffer(self) -> memoryview:
        return self._parser.get_buffer()

    def buffer_updated(self, size: int) -> None:
        self._begin_batch(size)
        self._parser.buffer_updated(size)
        self._serve()

    def _begin_batch(self, size: int) -> None:
        """Count the *size* bytes that have come, and read the clock."""
        client = self._client
        client.received += size
        client.reads += 1
        self._turn.enter()
        client.last_used_ms = self._dispatcher.state.events.clock.now_ms
        stats = self._dispatcher.state.stats
        stats.input_bytes += size
        stats.reads += 1

    def _serve(self) -> None:
        """Run what is whole by now of what has come."""
        client = self._client
        self._run()
        self.wants_buffer = self._parser.wants_buffer()
        unread = self._parser.buffered()
        if unread or client.flags & IN_MULTI:
            queued = client.queue.size() if client.flags & IN_MULTI else 0
            if self._parser.overfull(queued):  # more than it may send of what is not run yet
                self._clients.query_limit_reached(client)
                self.disconnect()
        if not self._closing:
            self._count_memory(unread)

    def eof_received(self) -> None:
        """Close: a client that has closed its sending half gets what this very turn has answered.

        It waits for nothing any more, so nothing must be handed to it from now on. While it takes
        its replies it is still a client: limits hold for it, and it can be killed.
        """
        self._clients.leaving(self._client)
        self._client.close_after_reply = True
        self._flush()

    def connection_lost(self) -> None:
        self._closing = True
        self._clients.closed(self._client)
        if self._client.acks is not None:
            self._confirmations.forget(self._client)
        self._client.connection_lost()
        self._memory.clients -= self._client.memory
        self._client.memory = 0

    def pause_writing(self) -> None:
        self._is_backed_up = True

    def sent_some(self) -> None:
        replica = self._client.replica
        if replica is not None:
            replica.has_room()
        self._turn.enter()
        self._client.last_used_ms = self._dispatcher.state.events.clock.now_ms
        self._count_unsent()

    def resume_writing(self) -> None:
        self._is_backed_up = False
        self.sent_some()

    # ------------------------------------------------------------------ running commands

    def resume(self) -> None:
        """Send what has been answered meanwhile, and resume with what was pipelined after it."""
        client = self._client
        client.last_used_ms = self._dispatcher.state.events.clock.now_ms
        if client.postponed is not None and not client.script_left and not self._closing:
            argv, client.postponed = client.postponed, None
            self._dispatcher.execute(client, argv)
        if self._parser.has_more():
            self._run()
        else:  # as most often
            self._parser.let_go()
            self._flush()

    def _run(self) -> None:
        """Submit whole commands until none is left, or one has to wait."""
        if self._running:
            return  # a command of this very client has made it be resumed
        self._running = True
        taken = self._parser.taken
        try:
            self._submit()
        except ProtocolError as error:
            _log.debug("protocol error from %s: %s", self._client.address, error)
            self._out.write(ErrorReply("ERR", f"Protocol error: {error}"))
            self._client.close_after_reply = True
        finally:
            self._running = False
        self._count_batch(self._parser.taken - taken)
        self._flush()

    def _count_batch(self, commands: int) -> None:
        """Count the *commands* that have just been taken one after the other."""
        if commands:
            self._client.batches += 1
            self._client.batched += commands
            stats = self._dispatcher.state.stats
            stats.batches += 1
            stats.batched += commands

    def _submit(self) -> None:
        client, parser = self._client, self._parser
        ahead = 0  # of how many commands the keys have been fetched
        while client.waiter is None and client.postponed is None:
            if self._closing or client.close_after_reply:
                return
            if self._out.overflown:
                return
            parser.authenticated = not client.flags & UNAUTHENTICATED
            if ahead > 0:
                ahead -= 1
            elif parser.unparsed() >= PIPELINE:
                ahead = self._dispatcher.look_ahead(client, parser) - 1
            argv = parser.take()
            if argv is None:
                return
            self._dispatcher.execute(client, argv)
            argv = None  # the parser may use the list again
            if client.flags == IN_MULTI:
                self._dispatcher.queue_alike(client, parser)
            if self._out.size() > FLUSH_AT:
                self._turn.send_now(self)

    def _flush(self) -> None:
        """Have the answers so far sent when this turn ends."""
        has_news = self._out.size() or self._out.overflown or self._client.close_after_reply
        if has_news:
            self._turn.send_later(self)

    def flush(self) -> None:
        """Have what was pushed to the client sent when this turn ends."""
        self._flush()

    def send(self) -> None:
        """Hand the answers so far to the socket."""
        if self._closing:
            return
        if self._out.overflown:
            self._clients.output_limit_reached(self._client)
            return
        if self._client.flags & ACKS and self._is_held():
            return
        size = self._out.size()
        if size:
            self._write(self._out, size)
            if self._is_backed_up:
                self._count_unsent()
            elif self._client.memory:
                self._count_memory(self._parser.buffered())
        if self._client.close_after_reply and not self._closing:
            self._closing = True
            self._transport.close()

    def _write(self, out: Encoder, size: int) -> None:
        """Hand the *size* bytes of *out* to the socket."""
        stats = self._dispatcher.state.stats
        stats.output_bytes += size
        stats.writes += 1
        self._client.last_used_ms = self._dispatcher.state.events.clock.now_ms
        self._client.count_sent(size)
        self._transport.write(out)

    def _is_held(self) -> bool:
        """Send of a client with ACKS what is confirmed. Whether the rest has to wait for that."""
        held = self._client.acks
        if held is None:
            return False
        held.leave()
        data = held.take_confirmed()
        while data is not None and not self._closing:
            self._write_bytes(data)
            data = held.take_confirmed()
        start = 0
        if not held.portions:
            start = held.first_waiting()
            if start < 0:
                held.forget_marks()
                self._confirmations.follow(self._client)
                return self._closing
        if self._out.size() and not self._closing:
            data = self._out.take()
            if start:
                self._write_bytes(data[:start])
            held.hold(data, start, self._confirmations.now_ms())
        if not self._closing:
            self._confirmations.follow(self._client)
            self._count_unsent()
        return True

    def set_apart(self) -> None:
        held = self._client.acks
        if held is None or self._closing or self._out.overflown:
            return
        start = 0 if held.portions else held.first_waiting()
        if start < 0:
            held.forget_marks()
            return
        if self._out.size():
            held.set_apart(self._out.take(), start, self._confirmations.now_ms())
            self._turn.send_later(self)
        self._confirmations.follow(self._client)
        self._count_unsent()

    def _write_bytes(self, data: bytes) -> None:
        out = self._out.another()
        out.append_shared(data)
        self._write(out, len(data))

    def _count_unsent(self) -> None:
        """Count what the client has not taken by now, and disconnect it if that is too much."""
        if self._client.endpoint is not NO_ENDPOINT:  # it may have gone while it was sent something
            self._count_memory(self._parser.buffered())
            self._clients.check_output(self._client)

    def _count_memory(self, unread: int) -> None:
        """Count what the client holds now: *unread* bytes of requests, and unsent replies."""
        client = self._client
        memory = unread
        if (self._is_backed_up or client.acks is not None) and not client.flags & REPLICA:
            memory += self.unsent()  # a replica's must not have keys evicted, or others go
        if client.flags & IN_MULTI:
            memory += client.queue.memory()
        if client.waiter is not None or client.postponed is not None:
            memory += client.argv_bytes()
        if memory != client.memory:
            self._memory.clients += memory - client.memory
            client.memory = memory
            self._client_eviction.make_room()

    def refuse(self, error: ErrorReply) -> None:
        self._client.refuse(error)

    def disconnect(self) -> None:
        """Close at once: what has not been sent is lost, and nobody serves the client any more."""
        self._transport.abort()

    def buffers(self) -> Buffers:
        parser, transport = self._parser, self._transport
        return Buffers(
            parser.kept(), parser.room(), parser.words_size(),
            transport.unsent(), transport.unsent_pieces(), self._held_bytes(),
            0 if self._client.acks is None else len(self._client.acks.portions),
        )  # fmt: skip

    def unsent(self) -> int:
        return self._transport.unsent() + self._held_bytes()

    def _held_bytes(self) -> int:
        """What waits for replicas, and not for the socket."""
        return 0 if self._client.acks is None else self._client.acks.held_bytes


class ConnectionAcceptor(Acceptor):
    """Makes a Connection for each client that comes."""

    def __init__(self, config: Config, dispatcher: Dispatcher, clients: Clients) -> None:
        Acceptor.__init__(self, config)
        self._dispatcher = dispatcher
        self._clients = clients

    def room(self) -> int:
        return self._clients.room()

    def connect(self, transport: Transport) -> Endpoint:
        connection = Connection(self._dispatcher, self._clients)
        connection.connection_made(transport)
        return connection
