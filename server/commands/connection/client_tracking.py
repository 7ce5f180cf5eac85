"""CLIENT TRACKING, CACHING, GETREDIR and TRACKINGINFO: client-side caching."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply, Set
from server.client import client_line
from server.client.client import Client
from server.client.disjoint_prefixes import first_overlap
from server.client.tracking_options import TrackingOptions
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
OPTIONS = (b"REDIRECT", b"BCAST", b"OPTIN", b"OPTOUT", b"NOLOOP", b"PREFIX")

TWO_REDIRECTIONS = ErrorReply("ERR", "A client can only redirect to a single other client")
NO_SUCH_RECEIVER = ErrorReply("ERR", "The client ID you want redirect to does not exist")
PREFIX_WITHOUT_BCAST = ErrorReply("ERR", "PREFIX option requires BCAST mode to be enabled")
BCAST_STAYS = ErrorReply(
    "ERR",
    "You can't switch BCAST mode on/off before disabling tracking for this client, and then"
    " re-enabling it with a different mode.",
)
OPT_WITH_BCAST = ErrorReply("ERR", "OPTIN and OPTOUT are not compatible with BCAST")
IN_AND_OUT = ErrorReply("ERR", "You can't specify both OPTIN mode and OPTOUT mode")
OPT_STAYS = ErrorReply(
    "ERR",
    "You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then"
    " re-enabling it with a different mode.",
)
CACHING_WITHOUT_TRACKING = ErrorReply(
    "ERR",
    "CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT"
    " mode enabled",
)
ONLY_OPTIN = ErrorReply(
    "ERR", "CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
)
ONLY_OPTOUT = ErrorReply(
    "ERR", "CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
)


@command(
    "CLIENT TRACKING",
    arity=-3,
    flags=ANYBODY,
    group="connection",
    since="6.0.0",
    complexity="O(1). Some options may introduce additional complexity.",
)
def client_tracking(call: Call) -> Reply:
    """Has the server tell the connection when keys change that it has read, or that begin so.

    CLIENT TRACKING <ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST]
    [OPTIN] [OPTOUT] [NOLOOP]
    """
    options, prefixes = _read_options(call)
    switch = call.argv[2].upper()
    if switch == b"ON":
        _check(call.client, options, prefixes)
        if options.broadcasts and not prefixes:
            prefixes = [b""]
        call.server.tracking.start(call.client, options, prefixes)
    elif switch == b"OFF":
        call.server.tracking.stop(call.client)
    else:
        raise errors.SYNTAX
    return OK


def _read_options(call: Call) -> tuple[TrackingOptions, list[bytes]]:
    """The options of the command, and its prefixes. Raises ErrorReply for one that is malformed."""
    options, prefixes = TrackingOptions(), []
    args = Args(call.argv, 3)
    while args.left():
        word = args.take_word(*OPTIONS)
        if word == b"REDIRECT" and args.left():
            if options.redirect:
                raise TWO_REDIRECTIONS
            options.redirect = args.take_int()
            if options.redirect not in call.server.clients:
                raise NO_SUCH_RECEIVER
        elif word == b"PREFIX" and args.left():
            prefixes.append(args.take())
        elif word == b"BCAST":
            options.broadcasts = True
        elif word == b"OPTIN":
            options.opts_in = True
        elif word == b"OPTOUT":
            options.opts_out = True
        elif word == b"NOLOOP":
            options.no_loop = True
        else:
            raise errors.SYNTAX
    return options, prefixes


def _check(client: Client, new: TrackingOptions, prefixes: list[bytes]) -> None:
    """See that *new* fits together, and fits what *client* has chosen before. Raises ErrorReply.

    O(prefixes * log).
    """
    old = client.tracking
    if prefixes and not new.broadcasts:
        raise PREFIX_WITHOUT_BCAST
    if client_line.is_tracking(client) and old.broadcasts != new.broadcasts:
        raise BCAST_STAYS
    if new.broadcasts and (new.opts_in or new.opts_out):
        raise OPT_WITH_BCAST
    if new.opts_in and new.opts_out:
        raise IN_AND_OUT
    if (new.opts_in and old.opts_out) or (new.opts_out and old.opts_in):
        raise OPT_STAYS
    overlap = first_overlap(prefixes)
    for at, prefix in enumerate(prefixes):
        existing = old.prefixes.overlap(prefix)
        if existing is not None:
            raise _overlapping(prefix, "an existing", existing)
        if overlap is not None and overlap[0] == at:
            raise _overlapping(prefix, "another provided", prefixes[overlap[1]])


def _overlapping(prefix: bytes, which: str, other: bytes) -> ErrorReply:
    return ErrorReply(
        "ERR",
        f"Prefix '{errors.text_of(prefix)}' overlaps with {which} prefix"
        f" '{errors.text_of(other)}'. Prefixes for a single client must not overlap.",
    )


@command("CLIENT CACHING", arity=3, flags=ANYBODY, group="connection", since="6.0.0")
def client_caching(call: Call) -> Reply:
    """Says whether the keys of the next command are tracked, in the modes OPTIN and OPTOUT.

    CLIENT CACHING <YES | NO>
    """
    options, answer = call.client.tracking, call.argv[2].upper()
    if not client_line.is_tracking(call.client):
        raise CACHING_WITHOUT_TRACKING
    if answer == b"YES" and not options.opts_in:
        raise ONLY_OPTIN
    if answer == b"NO" and not options.opts_out:
        raise ONLY_OPTOUT
    if answer not in (b"YES", b"NO"):
        raise errors.SYNTAX
    options.caching = True
    return OK


@command("CLIENT GETREDIR", arity=2, flags=ANYBODY, group="connection", since="6.0.0")
def client_getredir(call: Call) -> Reply:
    """Returns which connection gets the invalidations: 0 for this one, -1 if nothing is tracked.

    CLIENT GETREDIR
    """
    return client_line.redirection_of(call.client)


@command("CLIENT TRACKINGINFO", arity=2, flags=ANYBODY, group="connection", since="6.2.0")
def client_trackinginfo(call: Call) -> Reply:
    """Shows how the keys of the connection are tracked.

    CLIENT TRACKINGINFO
    """
    options = call.client.tracking
    words = {
        b"on" if client_line.is_tracking(call.client) else b"off": True,
        b"bcast": options.broadcasts,
        b"optin": options.opts_in,
        b"caching-yes": options.opts_in and options.caching,
        b"optout": options.opts_out,
        b"caching-no": options.opts_out and options.caching,
        b"noloop": options.no_loop,
        b"broken_redirect": options.broken,
    }
    return {
        b"flags": Set(word for word, holds in words.items() if holds),
        b"redirect": client_line.redirection_of(call.client),
        b"prefixes": list(options.prefixes),
    }
