"""AUTH, HELLO, SELECT, RESET, QUIT, PING and ECHO."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply, Status
from server.client.client import MUTED, SUBSCRIBED, Client, is_printable
from server.dispatch.call import Call
from server.parts.state import ServerState
from server.table import errors
from server.table.args import Args, to_db_index, to_int
from server.table.command import Flags, command
from server.table.documentation import Deprecated, Tip
from server.users.users import DEFAULT

LOADING = Flags.LOADING | Flags.STALE
EARLY = LOADING | Flags.NOSCRIPT | Flags.FAST | Flags.NO_AUTH | Flags.ALLOW_BUSY

PONG = Status(b"PONG")
HAS_BEEN_RESET = Status(b"RESET")

NO_PASSWORD_SET = ErrorReply(
    "ERR",
    "AUTH <password> called without any password configured for the default user. Are you sure"
    " your configuration is correct?",
)
WRONG_PASSWORD = ErrorReply("WRONGPASS", "invalid username-password pair or user is disabled.")
NOT_A_PROTOCOL = ErrorReply("ERR", "Protocol version is not an integer or out of range")
NO_PROTOCOL = ErrorReply("NOPROTO", "unsupported protocol version")
HELLO_NEEDS_AUTH = ErrorReply(
    "NOAUTH",
    "HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH"
    " <user> <pass> option can be used to authenticate the client and select the RESP protocol"
    " version at the same time",
)

# ---------------------------------------------------------------------- who it is


@command(
    "AUTH",
    arity=-2,
    flags=EARLY,
    group="connection",
    since="1.0.0",
    secrets=lambda argv: range(1, len(argv)),
    history=[("6.0.0", "A username before the password.")],
)
def auth(call: Call) -> Reply:
    """Logs the connection in with a password, as the user named before it.

    AUTH [username] password
    """
    if len(call.argv) > 3:
        raise errors.SYNTAX
    if len(call.argv) == 2 and call.server.access.users.default.passwords.none_needed:
        raise NO_PASSWORD_SET
    user = call.argv[1] if len(call.argv) == 3 else DEFAULT
    _authenticate(call, user, call.argv[-1])
    return OK


def _authenticate(call: Call, user: bytes, password: bytes) -> None:
    """Log the client in. Raises WRONG_PASSWORD; the time taken tells nothing of the password."""
    if not call.server.access.log_in(call.client, user, password, call.argv[0]):
        raise WRONG_PASSWORD


def secrets_of_hello(argv: list[bytes]) -> list[int]:
    """The places of the user name and the password after each AUTH."""
    words = [at for at in range(2, len(argv)) if argv[at].upper() == b"AUTH"]
    return [place for at in words for place in (at + 1, at + 2)]


@command(
    "HELLO",
    arity=-1,
    flags=EARLY,
    group="connection",
    since="6.0.0",
    secrets=secrets_of_hello,
    history=[("6.2.0", "Without a protocol version it only reports.")],
)
def hello(call: Call) -> Reply:
    """Chooses the protocol version, logs in, names the connection; describes the server.

    HELLO [protover [AUTH username password] [SETNAME clientname]]
    """
    client = call.client
    version, login, name = _hello_options(call.argv)
    if login is not None:
        _authenticate(call, *login)
    if not client.authenticated:
        raise HELLO_NEEDS_AUTH
    if name is not None:
        client.name = name
    if version:
        client.speak(version)
    return {
        b"server": b"redis",
        b"version": call.server.config.redis_version.encode(),
        b"proto": client.resp,
        b"id": client.id,
        b"mode": b"standalone",
        b"role": b"replica" if call.server.replication.is_replica else b"master",
        b"modules": [],
    }


def _hello_options(argv: list[bytes]) -> tuple[int, tuple[bytes, bytes] | None, bytes | None]:
    """Protocol version (0: leave it), user and password, the client's name."""
    version, login, name = 0, None, None
    if len(argv) > 1:
        version = to_int(argv[1], NOT_A_PROTOCOL)
        if version not in (2, 3):
            raise NO_PROTOCOL
    args = Args(argv, 2)
    while args.left() > 0:  # -1 for a HELLO without a version
        if args.left() > 2 and args.take_word(b"AUTH"):
            login = (args.take(), args.take())
        elif args.left() > 1 and args.take_word(b"SETNAME"):
            name = args.take()
            if not is_printable(name):
                raise errors.BAD_CLIENT_NAME
        else:
            option = errors.text_of(args.take())
            raise ErrorReply("ERR", f"Syntax error in HELLO option '{option}'")
    return version, login, name


@command("SELECT", arity=2, flags=LOADING | Flags.FAST, group="connection", since="1.0.0")
def select(call: Call) -> Reply:
    """Chooses the database that the connection's commands work on.

    SELECT index
    """
    call.client.db_index = to_db_index(call.argv[1], len(call.server.databases))
    return OK


# ---------------------------------------------------------------------- starting over


@command(
    "RESET",
    arity=1,
    flags=EARLY | Flags.NOT_QUEUED | Flags.FOR_SUBSCRIBERS,
    group="connection",
    since="6.2.0",
)
def reset(call: Call) -> Reply:
    """Puts the connection into the state of a new one.

    RESET
    """
    _reset_client(call.server, call.client)
    return HAS_BEEN_RESET


def _reset_client(server: ServerState, client: Client) -> None:
    client.leave_multi()
    server.watching.unwatch(client)
    server.pubsub.unsubscribe_all(client)
    server.monitors.remove(client)
    server.tracking.stop(client)
    client.clear_flag(MUTED)
    client.skip = 0
    client.speak(2)
    client.db_index = 0
    client.name = b""
    client.no_evict = client.no_touch = False
    server.access.connected(client)
    for part in server.parts:
        part.client_reset(client)


@command(
    "QUIT",
    arity=-1,
    flags=EARLY | Flags.NOT_QUEUED | Flags.FOR_SUBSCRIBERS,
    group="connection",
    since="1.0.0",
    deprecated=Deprecated("7.2.0", "just closing the connection"),
)
def quit_(call: Call) -> Reply:
    """Closes the connection after all replies have been sent.

    QUIT
    """
    call.client.close_after_reply = True
    return OK


# ---------------------------------------------------------------------- signs of life


@command(
    "PING",
    arity=-1,
    flags=Flags.FAST | Flags.TELLS_HEALTH | Flags.FOR_SUBSCRIBERS,
    group="connection",
    since="1.0.0",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def ping(call: Call) -> Reply:
    """Returns PONG, or the message if there is one; a subscriber gets both in RESP2.

    PING [message]
    """
    if len(call.argv) > 2:
        raise errors.wrong_arity("ping")
    if call.client.flags & SUBSCRIBED and call.client.resp == 2:
        return [b"pong", call.argv[1] if len(call.argv) == 2 else b""]
    return PONG if len(call.argv) == 1 else call.argv[1]


@command("ECHO", arity=2, flags=LOADING | Flags.FAST, group="connection", since="1.0.0")
def echo(call: Call) -> Reply:
    """Returns its argument.

    ECHO message
    """
    return call.argv[1]
