"""Access: who the clients are, and what they may do.

A client whose user may not do everything has the flag RESTRICTED: then admission asks the user
before each command, wherever it comes from, and refusals are logged here. Of others nothing is
asked. What changes a user changes the flags of its clients.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from protocol.replies import ErrorReply
from server.client import client_line
from server.client.client import IN_MULTI, RESTRICTED, UNAUTHENTICATED, Client
from server.client.origin import EXEC, SCRIPT
from server.client.subscriptions import CHANNELS, PATTERNS, SHARD_CHANNELS
from server.config.parameters import Config
from server.observe.part import Part
from server.parts.tracking.tracking import Tracking
from server.parts.waiting.blocking import Blocking
from server.users import denial
from server.users.acl_log import AclLog
from server.users.denial import Denial
from server.users.user import User
from server.users.users import Users
from storage.keyspace.settings import Clock

_log = logging.getLogger("penstock")


class Access(Part):
    """The users, and what was refused to them. *clients* are all clients by their ids."""

    __slots__ = (
        "_asks_certificate",
        "_blocking",
        "_clients",
        "_clock",
        "_requirepass",
        "_strangers",
        "_tracking",
        "denied",
        "log",
        "users",
    )

    def __init__(
        self, clients: dict[int, Client], tracking: Tracking, blocking: Blocking, clock: Clock
    ) -> None:
        self._clients = clients
        self._blocking = blocking
        self._tracking = tracking
        self._clock = clock
        self._requirepass = ""
        self._asks_certificate = False  # tls-auth-clients-user
        self._strangers: dict[Client, None] = {}  # had to log in when they came, and have not yet
        self.denied = dict.fromkeys(denial.REASONS, 0)
        self.users = Users()
        self.log = AclLog()

    # ------------------------------------------------------------------ who a client is

    @property
    def asks_for_login(self) -> bool:
        """Whether a client that connects has to log in first."""
        default = self.users.default
        return not (default.is_on and default.passwords.none_needed)

    def connected(self, client: Client) -> None:
        """A client has connected, or sent RESET: it is the default user.

        With tls-auth-clients-user, it is the user whose name its certificate has, if there is one.
        """
        certified = self._certified(client)
        self._identify(client, certified or self.users.default)
        client.clear_flag(UNAUTHENTICATED)
        self._strangers.pop(client, None)
        if certified is None and self.asks_for_login:
            client.set_flag(UNAUTHENTICATED)
            self._strangers[client] = None

    def _certified(self, client: Client) -> User | None:
        """The user named by the client's certificate; None if there is none, or it is off."""
        if not self._asks_certificate or not client.certificate_name:
            return None
        user = self.users.named(client.certificate_name.encode("utf-8", "surrogateescape"))
        return user if user is not None and user.is_on else None

    def log_in(self, client: Client, name: bytes, password: bytes, word: bytes) -> bool:
        """Let *client* be the user *name* if *password* is right, else log that *word* failed.

        It takes as long for a user that there is not.
        """
        user = self.users.named(name)
        known = user or User(name)
        if not known.accepts(password) or user is None:
            self._note(client, Denial(denial.AUTH, 0, word), _context(client, 0), name)
            return False
        self._identify(client, user)
        client.clear_flag(UNAUTHENTICATED)
        self._strangers.pop(client, None)
        return True

    def join(self, client: Client, other: Client) -> None:
        """*client* is a further connection of the one who is logged in at *other*: the console's.

        As long as *other* is connected, its user exists.
        """
        self._identify(client, other.user)
        client.clear_flag(UNAUTHENTICATED)
        self._strangers.pop(client, None)

    def _identify(self, client: Client, user: User) -> None:
        self._tell_broadcasts([client])
        client.user = user
        _restrict(client)

    # ------------------------------------------------------------------ what a client may do

    def refused(self, client: Client, what: Denial, origin: int) -> ErrorReply:
        """Log that *client* was denied a command from *origin*; the error for it."""
        name = client.user.name
        self._note(client, what, _context(client, origin), name)
        return what.refusal_at_exec() if origin == EXEC else what.refusal(name)

    def _note(self, client: Client, what: Denial, context: bytes, username: bytes) -> None:
        self.denied[what.reason] += 1
        now_ms = self._clock.now_ms
        line = client_line.line(client, now_ms)
        self.log.record(denial.REASONS[what.reason], context, what.word, username, line, now_ms)

    # ------------------------------------------------------------------ changes of users

    def change(self, name: bytes, rules: Iterable[bytes], me: Client) -> None:
        """ACL SETUSER: apply *rules* to the user *name*, which may be new: all of them, or none.

        *me* is the client that asks. Raises BadUserRule. O(clients).
        """
        proposed = self.users.proposed(name, rules)
        affected = self._clients_of(name)
        self._tell_broadcasts(affected)
        self.users.accept(proposed)
        self._follow(affected, me)

    def remove(self, name: bytes, me: Client) -> bool:
        """ACL DELUSER: remove the user *name*, and disconnect its clients; whether there was one.

        O(clients), if there was one.
        """
        if self.users.remove(name) is None:
            return False
        for client in self._clients_of(name):
            self._close(client, me)
        return True

    def replace_all(self, proposed: Sequence[User], me: Client | None) -> None:
        """ACL LOAD: let *proposed* be all the users. The clients of others are disconnected.

        *me* is the client that asks, if it is one.
        """
        everyone = list(self._clients.values())
        self._tell_broadcasts(everyone)
        gone = {user.name for user in self.users.replace_all(proposed)}
        self._follow([c for c in everyone if c.user.name not in gone], me)
        for client in everyone:
            if client.user.name in gone:
                self._close(client, me)

    def _clients_of(self, name: bytes) -> list[Client]:
        return [client for client in self._clients.values() if client.user.name == name]

    def _follow(self, affected: list[Client], me: Client | None = None) -> None:
        """The users of these clients have changed."""
        for client in affected:
            _restrict(client)
            if not _may_hear_all(client):
                self._close(client, me)
            elif client.waiter is not None:
                self._blocking.rights_changed(client.waiter)
        for client in self._strangers:
            if self.asks_for_login:
                client.set_flag(UNAUTHENTICATED)
            else:
                client.clear_flag(UNAUTHENTICATED)

    def _close(self, client: Client, me: Client | None) -> None:
        """Disconnect *client*, whose user is gone; *me* after it has its reply."""
        self._tell_broadcasts([client])
        client.user = self.users.default
        _restrict(client)  # the rest of an EXEC may still run
        client.set_flag(UNAUTHENTICATED)
        if client is me:
            client.close_after_reply = True
        else:
            client.endpoint.disconnect()

    def _tell_broadcasts(self, clients: list[Client]) -> None:
        """Tell of the keys that have changed so far, by the rights that *clients* have now."""
        if any(client.tracking.broadcasts for client in clients):
            self._tracking.broadcasts.send()

    # ------------------------------------------------------------------ as a part of the server

    def client_left(self, client: Client) -> None:
        self._strangers.pop(client, None)

    def configured(self, config: Config) -> None:
        self.log.most = config.acllog_max_len
        self._asks_certificate = config.tls_auth_clients_user == "CN"
        self.users.all_channels = config.acl_pubsub_default == "allchannels"
        if config.requirepass != self._requirepass:
            self._requirepass = config.requirepass
            self.users.set_default_password(config.requirepass.encode("utf-8", "surrogateescape"))
            self._follow([])

    def begin_with(self, users: Sequence[User]) -> None:
        """At the start: *users*, from redis.conf or the aclfile, in place of any."""
        for user in users:
            if not user.is_on and user.name != self.users.default.name:
                _log.info(
                    "The user '%s' is disabled (there is no 'on' modifier in the user description)."
                    " Make sure this is not a configuration error.",
                    user.name.decode("utf-8", "replace"),
                )
            self.users.accept(user)

    def statistics_reset(self) -> None:
        self.denied = dict.fromkeys(denial.REASONS, 0)


def _restrict(client: Client) -> None:
    """Have the commands of *client* checked, unless its user may do everything."""
    if client.user.may_do_everything:
        client.clear_flag(RESTRICTED)
    else:
        client.set_flag(RESTRICTED)


def _may_hear_all(client: Client) -> bool:
    """Whether *client* may be subscribed to all that it is subscribed to."""
    names, user = client.subscriptions, client.user
    heard = [(name, kind == PATTERNS) for kind in KINDS for name in names.of(kind)]
    return all(user.may_hear(name, is_pattern) for name, is_pattern in heard)


KINDS = (CHANNELS, PATTERNS, SHARD_CHANNELS)


def _context(client: Client, origin: int) -> bytes:
    """Where ACL LOG says that a command has come from."""
    if origin == SCRIPT:
        return b"lua"
    return b"multi" if origin == EXEC or client.flags & IN_MULTI else b"toplevel"
