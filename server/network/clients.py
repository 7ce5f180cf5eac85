"""All connected clients: whether they are accepted, their limits, and what goes when they go."""

from __future__ import annotations

import logging
from collections.abc import Callable

from protocol.replies import ErrorReply
from protocol.requests import RequestParser
from server.client import client_line
from server.client.client import CLIENT_BYTES, MOST_OUTPUT, UNAUTHENTICATED, Client
from server.client.endpoint import NO_ENDPOINT, Endpoint
from server.client.permissions import is_local
from server.config.parameter import OutputLimit
from server.config.parameters import Config
from server.network.transport import Transport
from server.observe.part import Part
from server.parts.state import ServerState
from server.table import errors

# Bytes of errors that may wait for one who has not logged in: a buffer of 16 KB and 1 KB more.
# Source: redis 8.6, observed.
MOST_UNAUTHENTICATED = 17 * 1024

_log = logging.getLogger("penstock")


class Clients(Part):
    """Registers clients that connect, and removes those that go.

    *monotonic_ms* is for the limits of replies that wait: a clock that nothing moves.
    """

    def __init__(self, state: ServerState, monotonic_ms: Callable[[], int]) -> None:
        self._state = state
        self._clock = state.events.clock
        self._monotonic_ms = monotonic_ms
        self._last_id = 0
        self._over_soft_limit: dict[Client, int] = {}  # -> since when, monotonic ms
        self._output_limits: dict[str, OutputLimit] = {}
        self._must_check_all = False  # the limits have been changed
        self.configured(state.config)
        state.parts.append(self)

    def configured(self, config: Config) -> None:
        """What is asked of each client that comes is kept here, for quick access."""
        self._most_clients = config.maxclients
        self._is_protected = config.protected_mode
        if config.client_output_buffer_limit != self._output_limits:
            self._output_limits = config.client_output_buffer_limit
            self._must_check_all = True
        self._most_output = min(self._output_limits["normal"].hard, MOST_OUTPUT)
        self._most_bulk = config.proto_max_bulk_len
        self._most_buffered = config.client_query_buffer_limit

    # ------------------------------------------------------------------ coming and going

    def opened(self, transport: Transport, endpoint: Endpoint) -> Client:
        """A client has connected. With close_after_reply set, it is sent its *out* and closed."""
        state = self._state
        client = self.new_client(transport, endpoint)
        client.certificate_name = transport.peer_name()
        state.stats.connections += 1
        refusal = self._refusal(client)
        if refusal is not None:
            state.stats.rejected_connections += 1
            client.out.write(refusal)
            client.close_after_reply = True
            return client
        state.access.connected(client)
        if state.config.client_acks is not None:
            state.replication.confirm(client, state.config.client_acks)
        client.out.limit = self._most_output
        state.clients[client.id] = client
        state.memory.clients += CLIENT_BYTES
        return client

    def new_client(self, transport: Transport, endpoint: Endpoint) -> Client:
        """A client with an id of its own, which is in no list yet."""
        self._last_id += 1
        client = Client(self._last_id, self._clock.now_ms)
        client.endpoint = endpoint
        client.address, client.local_address = transport.address, transport.local_address
        client.fd = transport.fd
        return client

    def room(self) -> int:
        """How many more may connect; less than 0 if maxclients has been lowered."""
        return int(self._most_clients - len(self._state.clients))

    def _refusal(self, client: Client) -> ErrorReply | None:
        if len(self._state.clients) >= self._most_clients:
            return errors.TOO_MANY_CLIENTS
        needs_none = self._state.access.users.default.passwords.none_needed
        if self._is_protected and needs_none and not is_local(client):
            return errors.PROTECTED_MODE
        return None

    def leaving(self, client: Client) -> None:
        """The client sends nothing any more: it waits for nothing and watches nothing."""
        if not client.has_left:
            client.has_left = True
            self._state.client_left(client)

    def closed(self, client: Client) -> None:
        """The client has gone: nothing of it stays anywhere."""
        if self._state.clients.pop(client.id, None) is None:
            return
        self._state.memory.clients -= CLIENT_BYTES
        self._over_soft_limit.pop(client, None)
        self.leaving(client)

    # ------------------------------------------------------------------ limits

    def set_limits(self, parser: RequestParser) -> None:
        """Set the limits of requests for a new connection."""
        parser.max_bulk = self._most_bulk
        parser.max_buffered = self._most_buffered

    def query_limit_reached(self, client: Client) -> None:
        """Count and log that *client* is disconnected: its unfinished request is too long."""
        self._state.stats.query_limit_disconnections += 1
        _log.warning("Closing client that reached max query buffer length: %s", self._line(client))

    def check_output(self, client: Client) -> None:
        """Disconnect *client* if more replies wait than client-output-buffer-limit allows."""
        if client.endpoint is NO_ENDPOINT:
            return
        limit = self._output_limits[client_line.limit_class_of(client)]
        unsent = client.endpoint.unsent()
        waiting = len(client.out) + unsent
        if limit.hard:  # a reply is dropped while it grows
            client.limit_output(max(limit.hard - unsent, 1))
        now_ms = self._monotonic_ms()
        if not limit.soft or waiting < limit.soft:
            self._over_soft_limit.pop(client, None)
        else:
            self._over_soft_limit.setdefault(client, now_ms)
        over_ms = now_ms - self._over_soft_limit.get(client, now_ms)
        is_over = (limit.hard and waiting >= limit.hard) or over_ms > limit.soft_seconds * 1000
        if is_over or (waiting > MOST_UNAUTHENTICATED and client.flags & UNAUTHENTICATED):
            self.output_limit_reached(client)

    def output_limit_reached(self, client: Client) -> None:
        """Disconnect *client*, which has more replies waiting than it may."""
        self._state.stats.output_limit_disconnections += 1
        _log.warning("Client %s closed for overcoming of output buffer limits.", self._line(client))
        client.endpoint.disconnect()

    def _line(self, client: Client) -> str:
        return client_line.line(client, self._clock.now_ms).decode("utf-8", "replace")

    def tick(self, now_ms: int) -> None:
        """Look after soft limits that have lasted too long, and clients idle for too long."""
        of_whom = self._state.clients.values() if self._must_check_all else self._over_soft_limit
        self._must_check_all = False
        for client in list(of_whom):
            self.check_output(client)
        if self._state.config.timeout:
            self._drop_idle(self._clock.now_ms - self._state.config.timeout * 1000)

    def clock_moved(self, now_ms: int) -> None:
        """Close the clients that have become idle for too long. Nobody has come in the future."""
        for client in self._state.clients.values():
            client.created_ms = min(client.created_ms, now_ms)
            client.last_used_ms = min(client.last_used_ms, now_ms)
            client.reply_peak_ms = min(client.reply_peak_ms, now_ms)
        if self._state.config.timeout:
            self._drop_idle(now_ms - self._state.config.timeout * 1000 + 1)

    def _drop_idle(self, before_ms: int) -> None:
        """Close clients not heard of since *before_ms*, but none that waits or is subscribed.

        O(clients).
        """
        for client in list(self._state.clients.values()):
            waits = client.waiter is not None or client.postponed is not None
            waits = waits or client.is_subscribed or client.replica is not None
            if client.last_used_ms < before_ms and not waits:
                _log.info("closing idle client %d (%s)", client.id, client.address)
                client.endpoint.disconnect()
