"""MIGRATE: sends keys to another server, and deletes them here once they have arrived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from protocol.replies import OK, ErrorReply, Reply, Status
from server.commands.keys.migration import Target, transfer
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, DELETE, INCOMPLETE, RW, KeyRange, KeyUse, KeywordKeys
from storage import payload
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_changes import NOTHING
from storage.keyspace.key_lookups import ANY

OPTIONS_AT = 6
ONE_KEY = KeyRange(RW | ACCESS | DELETE, first=3)
MANY_KEYS = KeywordKeys(
    RW | ACCESS | DELETE | INCOMPLETE,
    b"KEYS",
    start_from=-2,
    options_at=OPTIONS_AT,
    values={b"AUTH": 1, b"AUTH2": 2},
)

NO_KEY = Status(b"NOKEY")
KEY_AND_KEYS = ErrorReply(
    "ERR", "When using MIGRATE KEYS option, the key argument must be set to the empty string"
)

DEFAULT_TIMEOUT_MS = 1000
MAX_TIMEOUT_MS = 2**31 - 1  # the longest wait for a socket
MAX_PORT = 65535


class Options(NamedTuple):
    """The options of MIGRATE, without the keys."""

    copy: bool
    replace: bool
    login: list[bytes]


def keys_to_migrate(argv: list[bytes]) -> list[KeyUse]:
    """All keys after KEYS, or else the one before the options; no keys if *argv* has both."""
    keys, first = ONE_KEY.keys_in(argv), MANY_KEYS.position(argv)
    if first is not None:
        keys = argv[first:] if keys == [b""] else []
    return [KeyUse(key, ONE_KEY.flags) for key in keys]


def secrets_of_migrate(argv: list[bytes]) -> list[int]:
    """The places of the password after AUTH, and of the user and the password after AUTH2."""
    places: list[int] = []
    at = OPTIONS_AT
    while at < len(argv):
        word = argv[at].upper()
        if word == b"KEYS":
            break
        secrets = {b"AUTH": 1, b"AUTH2": 2}.get(word, 0)
        places += range(at + 1, at + 1 + secrets)
        at += 1 + secrets
    return places


@command(
    "MIGRATE",
    arity=-6,
    flags=Flags.WRITE | Flags.MOVABLEKEYS,
    group="generic",
    since="2.6.0",
    complexity="O(N) where N is the size of the values. Everybody waits for the other server.",
    keys=(ONE_KEY, MANY_KEYS),
    get_keys=keys_to_migrate,
    secrets=secrets_of_migrate,
    categories=["keyspace", "dangerous"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[
        ("3.0.0", "COPY and REPLACE."),
        ("3.0.6", "KEYS."),
        ("4.0.7", "AUTH."),
        ("6.0.0", "AUTH2."),
    ],
)
def migrate(call: Call) -> Reply:
    """Moves keys to another server; COPY leaves them here too.

    MIGRATE host port <key | ""> destination-db timeout [COPY] [REPLACE]
    [AUTH password | AUTH2 username password] [KEYS key [key ...]]
    """
    options = _options(call.argv)
    target = _target(call.argv, options.login)
    db = call.db
    keys = [key for key, _ in keys_to_migrate(call.argv) if db.read(key, ANY) is not None]
    if not keys:
        return NO_KEY
    outcome = transfer(target, _restores(call, keys, options.replace))
    if not options.copy:
        _delete(call, outcome.taken)
    if outcome.error is not None:
        raise outcome.error
    return OK


def _options(argv: list[bytes]) -> Options:
    """Raises ErrorReply."""
    args = Args(argv, OPTIONS_AT)
    copy = replace = False
    login: list[bytes] = []
    while args.left():
        if args.take_word(b"COPY"):
            copy = True
        elif args.take_word(b"REPLACE"):
            replace = True
        elif args.take_word(b"AUTH"):
            login = [args.take()]
        elif args.take_word(b"AUTH2"):
            login = [args.take(), args.take()]
        elif args.take_word(b"KEYS"):
            if argv[3]:
                raise KEY_AND_KEYS
            args.rest()
        else:
            raise errors.SYNTAX
    return Options(copy, replace, login)


def _target(argv: list[bytes], login: list[bytes]) -> Target:
    """The other server. Raises NOT_AN_INTEGER; that there is no such host shows on connecting."""
    timeout_ms = to_int(argv[5])
    to_int(argv[4])
    if timeout_ms <= 0:
        timeout_ms = DEFAULT_TIMEOUT_MS
    host = argv[1].decode("ascii", "replace")
    timeout_s = min(timeout_ms, MAX_TIMEOUT_MS) / 1000
    text = argv[2]  # what is not a port is 0, on which nothing listens
    port = int(text) if text.isdigit() and len(text) <= 5 and int(text) <= MAX_PORT else 0
    return Target(host, port, argv[4], timeout_s, login)


def _restores(call: Call, keys: list[bytes], replace: bool) -> Iterator[list[bytes]]:
    """The commands that the other server must run."""
    writing = call.server.config.write_options()
    for key in keys:
        expiry_ms = call.db.expiry(key)
        ttl = 0 if expiry_ms == NO_EXPIRY else max(1, expiry_ms - call.now_ms)
        text = payload.dump(call.db.find(key, ANY), writing, call.db.side.get(key))
        words = [b"RESTORE", key, b"%d" % ttl, text]
        yield [*words, b"REPLACE"] if replace else words


def _delete(call: Call, keys: list[bytes]) -> None:
    """Delete *keys*, which have arrived; that is logged as one command."""
    log: tuple[bytes, ...] = (b"DEL", *keys)
    for key in keys:
        if call.db.remove(key):
            call.db.changed(key, b"del", changes=1, log=log)
            log = NOTHING
