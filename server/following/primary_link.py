"""The link to our primary: dialled, kept alive, dialled again when it breaks.

    CONNECT --> CONNECTING --> HANDSHAKE --> SYNC: a copy comes, and is loaded --> CONNECTED
       ^                           `------------- partial resync -----------------^    |
       `------------- whatever fails: once more, a second later -----------------------'

While a copy is loaded nothing is read, so that the primary keeps what comes after it. If the link
breaks then, the copy is loaded nevertheless, and the next link resumes from there.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from server.client.client import LINK, SUPERUSER, Client
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.following.copy_arrival import Loading, Receiving
from server.following.dialling import LinkAcceptor
from server.following.primary_endpoint import Link, PrimaryEndpoint
from server.following.primary_stream import PrimaryStream
from server.network.backend import Backend
from server.network.clients import Clients
from server.network.transport import Transport
from server.observe.part import Part
from server.parts.persistence.files import reason
from server.parts.persistence.manifest import BadManifest
from server.parts.replication.following import Following, LinkState
from server.parts.replication.handshake import Copy, Handshake, LinkFailed
from server.process.server_clock import monotonic_ms

if TYPE_CHECKING:
    from server.network.tls.connector import TlsConnector

RETRY_AFTER_MS = 1000
ACK_EVERY_MS = 1000

_log = logging.getLogger("penstock")


class PrimaryLink(Part, Link):
    """Follows the primary that ``state.replication.following`` names, whenever there is one."""

    def __init__(
        self, config: Config, dispatcher: Dispatcher, backend: Backend, clients: Clients
    ) -> None:
        self._config = config
        self._dispatcher = dispatcher
        self._state = dispatcher.state
        self._backend = backend
        self._clients = clients
        self._following: Following | None = None
        self._endpoint: PrimaryEndpoint | None = None
        self._connector: LinkAcceptor | TlsConnector | None = None  # what made it, or will
        self._dialling: asyncio.Task[None] | None = None
        self._loading: Loading | None = None
        self._stream_client = Client(0, 0)  # keeps the database that the stream has selected
        self._dial_at_ms = 0
        self._acked_ms = 0
        self._lacks_log = False  # it could not be begun: it is tried again
        self._fsyncing = (0, 0)  # the AOF's offset that stands for one of the history
        self._fsynced = 0
        self._owed_fsync = 0  # the primary was told that we have as much, but not fsynced

    # ------------------------------------------------------------------ the role

    def role_changed(self) -> None:
        """The server follows somebody else now, or nobody."""
        following = self._state.replication.following
        if following is self._following:
            return
        before, self._following = self._following, following
        self._drop()
        if self._loading is not None:
            self._loading.cancel()
            self._loading = None
        if following is not None:
            if before is None:  # what comes begins with SELECT
                self._stream_client = self._new_client()
            _log.info("Connecting to MASTER %s:%d", following.host, following.port)
            self._dial_at_ms = 0
            self._dial()
        else:
            _log.info("MASTER MODE enabled")
            self._restart_log()  # no copy will come that it would wait for

    def _new_client(self) -> Client:
        """What stands for the primary: its commands are run for it."""
        client = Client(0, 0)
        client.db_index = self._state.replication.stream_db
        if self._following is not None:
            client.address = f"{self._following.host}:{self._following.port}"
        return client

    @property
    def is_dialling(self) -> bool:
        """Whether a connection is being made: the backend must return to the loop meanwhile."""
        return self._dialling is not None and not self._dialling.done()

    def _drop(self) -> None:
        """Close the link, whatever its state."""
        endpoint, self._endpoint = self._endpoint, None
        connector, self._connector = self._connector, None
        if endpoint is not None:
            endpoint.disconnect()
        elif connector is not None:
            connector.close()
        if self._dialling is not None:
            self._dialling.cancel()
            self._dialling = None

    def close(self) -> None:
        """The server ends."""
        self._following = None
        self._drop()
        if self._loading is not None:
            self._loading.cancel()

    # ------------------------------------------------------------------ dialling

    def _dial(self) -> None:
        following = self._following
        assert following is not None
        self._set_state(LinkState.CONNECTING)
        following.heard_ms = monotonic_ms()
        self._dialling = asyncio.get_running_loop().create_task(self._connect(following))
        self._backend.stay_until(0.0)
        self._backend.ring()

    async def _connect(self, following: Following) -> None:
        try:
            sock = await asyncio.wait_for(
                self._backend.connected(
                    following.host, following.port, self._config.bind_source_addr
                ),
                self._config.repl_timeout,
            )
            if self._following is not following:  # somebody else is followed by now, or nobody
                sock.close()
                return
            connector = self._connector = self._new_connector(following)
            self._set_state(LinkState.HANDSHAKE)
            await self._backend.adopt(sock, connector)
            connector.begin()
        except OSError as error:  # TimeoutError is one
            self._not_connected(following, reason(error) or "it has taken too long")

    def _not_connected(self, following: Following, why: str) -> None:
        if self._following is following:
            _log.warning("Error condition on socket for SYNC: %s", why)
            self._try_later()

    def _new_connector(self, following: Following) -> LinkAcceptor | TlsConnector:
        """What takes the connected socket, through TLS with tls-replication. Raises OSError."""
        acceptor = LinkAcceptor(self._config, self._new_endpoint)
        if not self._config.tls_replication:
            return acceptor
        from server.network.tls.connector import TlsConnector  # noqa: PLC0415  (imported lazily)
        from server.network.tls.context import BadSettings  # noqa: PLC0415

        try:
            return TlsConnector(self._config, acceptor, partial(self._not_connected, following))
        except BadSettings as error:
            raise OSError(str(error)) from None

    def _new_endpoint(self, transport: Transport) -> PrimaryEndpoint:
        self._endpoint = PrimaryEndpoint(self, transport)
        return self._endpoint

    def _try_later(self) -> None:
        self._set_state(LinkState.CONNECT)
        self._dial_at_ms = monotonic_ms() + RETRY_AFTER_MS

    def _set_state(self, state: LinkState) -> None:
        if self._following is not None:
            self._following.set_state(state, monotonic_ms())
            self._state.restrictions.follow_replication()

    # ------------------------------------------------------------------ what the endpoint tells

    def heard(self, size: int) -> None:
        """*size* bytes have come."""
        self.dispatcher.state.replication.traffic.received += size
        if self._following is not None:
            self._following.heard_ms = monotonic_ms()

    def new_handshake(self) -> Handshake:
        """What is said on a new link."""
        history = self._state.replication.history
        takes_over = self._following is not None and self._following.is_failover
        return Handshake(self._config, history.id, history.offset, takes_over)

    def answered(self, endpoint: PrimaryEndpoint, outcome: object) -> None:
        """The primary has answered PSYNC."""
        self._state.replication.failover.end()
        if self._following is not None:
            self._following.is_failover = False
        if isinstance(outcome, Copy):
            _log.info("Full resync from master: %s:%d", outcome.id, outcome.offset)
            self._set_state(LinkState.SYNC)
            files = self._state.persistence.files
            endpoint.receive_copy(Receiving(files, outcome, self._following))
            return
        name = getattr(outcome, "id", "")
        history = self._state.replication.history
        if name and name != history.id:
            history.follow_under(name)
            self._state.replication.replicas.disconnect_all()  # they have to learn the name
        _log.info("Successful partial resynchronization with master.")
        self._connected(endpoint)

    def _connected(self, endpoint: PrimaryEndpoint) -> None:
        self._state.replication.history.keep_backlog(self._config.repl_backlog_size)
        client = self._clients.new_client(endpoint.transport, endpoint)  # listed, while it is up
        client.db_index = self._stream_client.db_index
        client.user = SUPERUSER
        client.set_flag(LINK)
        self._state.replication.link = self._stream_client = client
        stream = PrimaryStream(self._dispatcher, client)
        self._set_state(LinkState.CONNECTED)
        self._restart_log()
        endpoint.receive_stream(stream)
        self._ack()
        self._dispatcher.turn.run_later(self._dispatcher.waits.serve_keyless)

    def copied(self, receiving: Receiving) -> None:
        """The copy is there: load it."""
        self._state.replication.data_replaced()
        self._loading = Loading(self._dispatcher, receiving, self._loaded)
        self._loading.resume()

    def _loaded(self, error: Exception | None) -> None:
        """The copy has been loaded, or cannot be."""
        loading, self._loading = self._loading, None
        assert loading is not None
        if error is not None:
            _log.warning("Failed trying to load the MASTER synchronization DB: %s", error)
            if self._endpoint is not None:
                self._endpoint.disconnect()
            return
        replication = self._state.replication
        place = self._state.persistence.loaded_history
        is_known = place is not None and place.db < len(self._state.databases)
        replication.stream_db = place.db if place is not None and is_known else 0
        self._stream_client = self._new_client()
        replication.history.keep_backlog(self._config.repl_backlog_size)
        replication.history.adopt(loading.copy.id, loading.copy.offset)
        self._fsyncing, self._fsynced = (0, 0), 0  # offsets of another history
        _log.info("MASTER <-> REPLICA sync: Finished with success")
        self._restart_log()
        if self._endpoint is not None:
            self._connected(self._endpoint)

    def _restart_log(self) -> None:
        """Switch the AOF on again, if appendonly is set; retried while it fails."""
        try:
            self._state.persistence.switch_log()
            self._lacks_log = False
        except (OSError, BadManifest) as error:
            self._lacks_log = True
            _log.warning("Failed enabling the AOF after a synchronization: %s", error)

    def lost(self, endpoint: PrimaryEndpoint) -> None:
        """The link is closed, by whomever."""
        link = self._state.replication.link
        if link is not None and link.endpoint is endpoint:
            self._state.replication.link = None
            link.connection_lost()
        if endpoint is self._endpoint:
            self._endpoint = None
            if self._following is not None:
                _log.warning("Connection with master lost.")
                was_up = self._following.is_up
                self._try_later()
                if was_up:
                    self._dial_at_ms = 0  # it may have been cut for once

    @property
    def dispatcher(self) -> Dispatcher:
        return self._dispatcher

    def refused(self, error: Exception) -> None:
        """The link has to end, for *error*."""
        _log.warning("%s", str(error).encode("ascii", "backslashreplace").decode())
        if isinstance(error, LinkFailed) and self._following is not None:
            self._state.replication.failover.was_refused()

    # ------------------------------------------------------------------ cron

    def tick(self, now_ms: int) -> None:
        following = self._following
        if following is None:
            if self._lacks_log and now_ms - self._acked_ms >= ACK_EVERY_MS:
                self._acked_ms = now_ms
                self._restart_log()
            return
        if following.state is LinkState.CONNECT:
            if now_ms >= self._dial_at_ms and self._loading is None:
                self._dial()
            return
        if self._loading is not None or self._state.restrictions.busy is not None:
            following.heard_ms = now_ms  # nothing is read
        elif self._endpoint is not None:
            self._endpoint.take_held()
        if now_ms - following.heard_ms > self._config.repl_timeout * 1000:
            _log.warning("MASTER timeout: no data nor PING received...")
            if self._endpoint is not None:
                self._endpoint.disconnect()
            elif self._connector is not None:
                self._connector.close()
        elif now_ms - self._acked_ms >= ACK_EVERY_MS:
            self._acked_ms = now_ms
            self._sign_of_life()
        elif self._owed_fsync and following.is_up:
            fsynced = self._fsynced_offset(self._state.replication.history.offset)
            if fsynced is not None and fsynced >= self._owed_fsync:
                self._ack()

    def _sign_of_life(self) -> None:
        if self._endpoint is None or self._following is None:
            return
        if self._following.is_up:
            self._ack()
            if self._lacks_log:
                self._restart_log()
        elif self._following.state is LinkState.SYNC:
            self._endpoint.say_raw(b"\n")

    def ack_if_asked(self) -> None:
        """Tell how far we are, if the primary has asked."""
        if self._state.replication.must_ack:
            self._ack()

    def _ack(self) -> None:
        self._state.replication.must_ack = False
        if self._endpoint is not None:
            offset = self._state.replication.history.offset
            words = [b"REPLCONF", b"ACK", b"%d" % offset]
            fsynced = self._fsynced_offset(offset)
            if fsynced is not None:
                words += [b"FACK", b"%d" % fsynced]
                self._owed_fsync = offset if fsynced < offset else 0
            self._endpoint.say(words)

    def _fsynced_offset(self, offset: int) -> int | None:
        """How much of the history, which has *offset* bytes by now, is fsynced in our log."""
        durability = self._state.propagation.durability
        if durability is None:
            return None
        synced = -1 if durability.tentative else durability.synced_offset
        if synced >= durability.offset:
            self._fsynced = offset
        elif synced >= self._fsyncing[0]:
            self._fsynced = max(self._fsynced, self._fsyncing[1])
            self._fsyncing = (durability.offset, offset)
        return min(self._fsynced, offset)
