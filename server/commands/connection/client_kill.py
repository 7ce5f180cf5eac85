"""CLIENT KILL: reads the filters, and closes the connections that match."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.client import client_line
from server.client.client import Client
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, Args
from server.table.command import Flags, command
from server.users.user import User
from server.users.users import Users

NO_SUCH_CLIENT = ErrorReply("ERR", "No such client")
BAD_ID = ErrorReply("ERR", "client-id should be greater than 0")
AGE_NOT_AN_INTEGER = ErrorReply("ERR", "maxage is not an integer or out of range")
BAD_AGE = ErrorReply("ERR", "maxage should be greater than 0")

OPTIONS = (b"ID", b"TYPE", b"USER", b"ADDR", b"LADDR", b"SKIPME", b"MAXAGE")


class Filters:
    """What a client must match to be closed. None stands for no filter."""

    def __init__(self, address: str | None = None, skip_me: bool = True) -> None:
        self.id: int | None = None
        self.type: str | None = None
        self.user: User | None = None
        self.address = address
        self.local_address: str | None = None
        self.min_age_s = 0
        self.skip_me = skip_me

    def take(self, option: bytes, args: Args, users: Users) -> None:
        """Read the filter *option* and its value; a user is one of *users*. Raises ErrorReply."""
        if option == b"ID":
            self.id = args.take_int(BAD_ID)
            if not 0 < self.id <= INT64_MAX:
                raise BAD_ID
        elif option == b"TYPE":
            self.type = client_line.type_named(args.take())
        elif option == b"USER":
            name = args.take()
            self.user = users.named(name)
            if self.user is None:
                raise ErrorReply("ERR", f"No such user '{errors.text_of(name)}'")
        elif option == b"ADDR":
            self.address = args.take().decode("utf-8", "surrogateescape")
        elif option == b"LADDR":
            self.local_address = args.take().decode("utf-8", "surrogateescape")
        elif option == b"MAXAGE":
            self.min_age_s = args.take_int(AGE_NOT_AN_INTEGER)
            if self.min_age_s <= 0:
                raise BAD_AGE
        else:
            word = args.take_word(b"YES", b"NO")
            if word is None:
                raise errors.SYNTAX
            self.skip_me = word == b"YES"

    def match(self, client: Client, me: Client, now_ms: int) -> bool:
        """Whether *client* matches; *me* is the client that asks."""
        return (
            not (self.skip_me and client is me)
            and self.id in (None, client.id)
            and self.type in (None, client_line.type_of(client))
            and self.user in (None, client.user)
            and self.address in (None, client.address)
            and self.local_address in (None, client.local_address)
            and now_ms // 1000 - client.created_ms // 1000 >= self.min_age_s
        )


@command(
    "CLIENT KILL",
    arity=-3,
    flags=Flags.ADMIN | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE,
    group="connection",
    since="2.4.0",
    complexity="O(N) where N is the number of connections.",
    history=[
        ("2.8.12", "Filters instead of an address."),
        ("2.8.13", "Replicas can be killed by TYPE."),
        ("3.2.0", "The TYPE filter master."),
        ("5.0.0", "The TYPE name replica."),
        ("6.2.0", "The LADDR filter."),
        ("7.4.0", "The MAXAGE filter."),
    ],
)
def client_kill(call: Call) -> Reply:
    """Closes connections: the one with an address, or all that match every filter.

    CLIENT KILL <ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] |
    [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>] | [MAXAGE maxage]>>
    """
    if len(call.argv) == 3:
        address = call.argv[2].decode("utf-8", "surrogateescape")
        if not _kill(call, Filters(address=address, skip_me=False)):
            raise NO_SUCH_CLIENT
        return OK
    filters = Filters()
    args = Args(call.argv, 2)
    while args.left():
        option = args.take_word(*OPTIONS)
        if option is None or not args.left():
            raise errors.SYNTAX
        filters.take(option, args, call.server.access.users)
    return _kill(call, filters)


def _kill(call: Call, filters: Filters) -> int:
    """Close the clients that *filters* match; return how many they are.

    The caller itself is closed when it has its answer, the others at once.
    """
    me = call.client
    connected = call.server.all_clients()
    chosen = [client for client in connected if filters.match(client, me, call.now_ms)]
    for client in chosen:
        if client is me:
            client.close_after_reply = True
        else:
            client.endpoint.disconnect()
    return len(chosen)
