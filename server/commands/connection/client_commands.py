"""CLIENT: clients show and change their own connection, operators all of them."""

from __future__ import annotations

from protocol.replies import NO_REPLY, OK, ErrorReply, Reply, Verbatim
from server.client import client_line
from server.client.client import MUTED, is_printable
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int, to_timeout_ms
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
OPERATOR = ANYBODY | Flags.ADMIN

INVALID_CLIENT_ID = ErrorReply("ERR", "Invalid client ID")
BAD_UNBLOCK_REASON = ErrorReply("ERR", "CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
BAD_PAUSE_MODE = ErrorReply("ERR", "CLIENT PAUSE mode must be WRITE or ALL")

container("CLIENT", group="connection", since="2.4.0", summary="Shows and changes connections.")

# ---------------------------------------------------------------------- about itself


@command("CLIENT ID", arity=2, flags=ANYBODY, group="connection", since="5.0.0")
def client_id(call: Call) -> Reply:
    """Returns the number of the connection; a later one always has a greater number.

    CLIENT ID
    """
    return call.client.id


@command("CLIENT GETNAME", arity=2, flags=ANYBODY, group="connection", since="2.6.9")
def client_getname(call: Call) -> Reply:
    """Returns the name that the connection was given, or null.

    CLIENT GETNAME
    """
    return call.client.name or None


@command(
    "CLIENT SETNAME",
    arity=3,
    flags=ANYBODY,
    group="connection",
    since="2.6.9",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def client_setname(call: Call) -> Reply:
    """Gives the connection a name; an empty one removes it.

    CLIENT SETNAME connection-name
    """
    name = call.argv[2]
    if not is_printable(name):
        raise errors.BAD_CLIENT_NAME
    call.client.name = name
    return OK


@command(
    "CLIENT SETINFO",
    arity=4,
    flags=ANYBODY,
    group="connection",
    since="7.2.0",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def client_setinfo(call: Call) -> Reply:
    """Records which client library uses the connection, and its version.

    CLIENT SETINFO <LIB-NAME libname | LIB-VER libver>
    """
    attribute, value = call.argv[2:4]
    what = attribute.upper()
    if what not in (b"LIB-NAME", b"LIB-VER"):
        raise ErrorReply("ERR", f"Unrecognized option '{errors.text_of(attribute)}'")
    if not is_printable(value):
        name = errors.text_of(attribute)
        raise ErrorReply("ERR", f"{name} cannot contain spaces, newlines or special characters.")
    if what == b"LIB-NAME":
        call.client.lib_name = value
    else:
        call.client.lib_version = value
    return OK


@command(
    "CLIENT INFO",
    arity=2,
    flags=ANYBODY,
    group="connection",
    since="6.2.0",
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def client_info(call: Call) -> Reply:
    """Shows the connection's line of CLIENT LIST.

    CLIENT INFO
    """
    return Verbatim(client_line.line(call.client, call.now_ms, call.argv) + b"\n")


@command("CLIENT REPLY", arity=3, flags=ANYBODY, group="connection", since="3.2.0")
def client_reply(call: Call) -> Reply:
    """Turns replies on or off, or suppresses the next one.

    CLIENT REPLY <ON | OFF | SKIP>
    """
    client, mode = call.client, call.argv[2].upper()
    if mode == b"ON":
        client.skip = 0
        client.clear_flag(MUTED)
        return OK
    if mode == b"OFF":
        client.skip = 0
        client.set_flag(MUTED)
    elif mode != b"SKIP":
        raise errors.SYNTAX
    elif client.skip or not client.is_muted:
        client.skip = 2  # the first reply that is suppressed is that of this command
        client.set_flag(MUTED)
    return NO_REPLY


@command("CLIENT NO-EVICT", arity=3, flags=OPERATOR, group="connection", since="7.0.0")
def client_no_evict(call: Call) -> Reply:
    """Protects the connection when clients are closed for using too much memory.

    CLIENT NO-EVICT <ON | OFF>
    """
    call.client.no_evict = _on_or_off(call.argv[2])
    return OK


@command("CLIENT NO-TOUCH", arity=3, flags=ANYBODY, group="connection", since="7.2.0")
def client_no_touch(call: Call) -> Reply:
    """Keeps the connection's commands from counting as uses of keys.

    CLIENT NO-TOUCH <ON | OFF>
    """
    call.client.no_touch = _on_or_off(call.argv[2])
    return OK


@command(
    "CLIENT CAPA",
    arity=-3,
    flags=ANYBODY | Flags.ALLOW_BUSY,
    group="connection",
    since="8.0.0",
    complexity="O(1)",
)
def client_capa(_call: Call) -> Reply:
    """Says what the client is able to do, for Valkey; nothing here depends on it.

    CLIENT CAPA capability [capability ...]
    """
    return OK


def _on_or_off(word: bytes) -> bool:
    mode = word.upper()
    if mode not in (b"ON", b"OFF"):
        raise errors.SYNTAX
    return mode == b"ON"


# ---------------------------------------------------------------------- about all


@command(
    "CLIENT LIST",
    arity=-2,
    flags=OPERATOR,
    group="connection",
    since="2.4.0",
    complexity="O(N) where N is the number of connections.",
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[
        ("5.0.0", "The TYPE option."),
        ("6.2.0", "The ID option, and the fields laddr and tot-mem."),
        ("7.0.0", "The field resp."),
        ("7.2.0", "The fields lib-name and lib-ver."),
    ],
)
def client_list(call: Call) -> Reply:
    """Shows all connections, one line for each.

    CLIENT LIST [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]
    """
    args = Args(call.argv, 2)
    shown = call.server.all_clients()
    if args.left() == 2 and args.take_word(b"TYPE"):
        wanted = client_line.type_named(args.take())
        shown = [client for client in shown if client_line.type_of(client) == wanted]
    elif args.left() > 1 and args.take_word(b"ID"):
        ids = [to_int(text, INVALID_CLIENT_ID) for text in args.rest()]
        clients = {client.id: client for client in shown}
        shown = [clients[number] for number in ids if number in clients]
    elif args.left():
        raise errors.SYNTAX
    lines = (
        client_line.line(client, call.now_ms, call.argv if client is call.client else ())
        for client in shown
    )
    return Verbatim(b"".join(line + b"\n" for line in lines))


@command("CLIENT UNBLOCK", arity=-3, flags=OPERATOR, group="connection", since="5.0.0")
def client_unblock(call: Call) -> Reply:
    """Ends a client's wait in a blocking command; returns 1 if it was waiting.

    CLIENT UNBLOCK client-id [TIMEOUT | ERROR]
    """
    if len(call.argv) > 4:
        raise errors.bad_subcommand("client", call.argv[1])
    reason = call.argv[3].upper() if len(call.argv) == 4 else b"TIMEOUT"
    if reason not in (b"TIMEOUT", b"ERROR"):
        raise BAD_UNBLOCK_REASON
    client = call.server.clients.get(to_int(call.argv[2]))
    if client is None or client.waiter is None:
        return 0
    over = client.waiter.block.when_over
    call.executor.waits.end(client.waiter, errors.UNBLOCKED if reason == b"ERROR" else over)
    return 1


@command(
    "CLIENT PAUSE",
    arity=-3,
    flags=OPERATOR,
    group="connection",
    since="3.0.0",
    types={"timeout": "integer"},
    history=[("6.2.0", "The modes WRITE and ALL.")],
)
def client_pause(call: Call) -> Reply:
    """Holds back all clients' commands for some milliseconds, or only their writes.

    CLIENT PAUSE timeout [WRITE | ALL]
    """
    if len(call.argv) > 4:
        raise errors.bad_subcommand("client", call.argv[1])
    mode = call.argv[3].upper() if len(call.argv) == 4 else b"ALL"
    if mode not in (b"WRITE", b"ALL"):
        raise BAD_PAUSE_MODE
    timeout_ms = to_timeout_ms(call.argv[2], call.now_ms)
    if timeout_ms:
        call.executor.waits.begin_pause(timeout_ms, writes_only=mode == b"WRITE")
    return OK


@command(
    "CLIENT UNPAUSE",
    arity=2,
    flags=OPERATOR,
    group="connection",
    since="6.2.0",
    complexity="O(N) where N is the number of clients held back.",
)
def client_unpause(call: Call) -> Reply:
    """Ends CLIENT PAUSE: runs what was held back.

    CLIENT UNPAUSE
    """
    call.executor.waits.end_pause()
    return OK


# ---------------------------------------------------------------------- help


container_help("CLIENT", group="connection", since="5.0.0")
