"""INFO, TIME and SHUTDOWN."""

from __future__ import annotations

from protocol.replies import NO_REPLY, OK, ErrorReply, Reply, Verbatim
from server.dispatch.call import Call
from server.parts.server_facts import SECTIONS
from server.table import errors
from server.table.args import Args
from server.table.command import Block, Flags, command, new_block
from server.table.documentation import Tip

EVERY_SECTION = [section.name for section in SECTIONS]
GROUPS = {
    "default": [section.name for section in SECTIONS if section.is_default],
    "all": EVERY_SECTION,
    "everything": EVERY_SECTION,
}

NO_SHUTDOWN = ErrorReply("ERR", "No shutdown in progress.")
CANNOT_SHUT_DOWN = ErrorReply("ERR", "Errors trying to SHUTDOWN. Check logs.")


@command(
    "INFO",
    arity=-1,
    flags=Flags.LOADING | Flags.STALE,
    group="server",
    since="1.0.0",
    complexity="O(N) where N is the number of connections.",
    categories=["dangerous"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_SPECIAL],
    history=[("7.0.0", "More than one section at a time.")],
)
def info_(call: Call) -> Reply:
    """Reports on the server, section by section.

    INFO [section [section ...]]
    """
    names = [word.decode("utf-8", "replace").lower() for word in call.argv[1:]]
    wanted = {section for name in names or ["default"] for section in GROUPS.get(name, (name,))}
    texts = [section.text(call.server) for section in SECTIONS if section.name in wanted]
    return Verbatim("\r\n".join(texts).encode("utf-8", "surrogateescape"))


@command(
    "TIME",
    arity=1,
    flags=Flags.LOADING | Flags.STALE | Flags.FAST,
    group="server",
    since="2.6.0",
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def time_(call: Call) -> Reply:
    """Returns the server's clock: unix seconds, and microseconds within the second.

    TIME
    """
    seconds, microseconds = divmod(call.server.clock.unix_us(), 1_000_000)
    return [b"%d" % seconds, b"%d" % microseconds]


@command(
    "SHUTDOWN",
    arity=-1,
    flags=Flags.ADMIN
    | Flags.NOSCRIPT
    | Flags.LOADING
    | Flags.STALE
    | Flags.NO_MULTI
    | Flags.ALLOW_BUSY,
    group="server",
    since="1.0.0",
    complexity="O(N) when saving, where N is the total number of keys in all databases when saving "
    "data, otherwise O(1)",
    history=[("7.0.0", "NOW, FORCE and ABORT.")],
)
def shutdown(call: Call) -> Reply | Block:
    """Saves what the configuration says must be saved, and stops the server.

    SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]
    """
    words = _shutdown_options(call)
    if b"ABORT" in words:
        if not call.server.shutdown.abort():
            raise NO_SHUTDOWN
        return OK
    if call.server.shutdown.is_waiting and b"NOW" not in words:
        return new_block([], object, 0, NO_REPLY, NO_REPLY)  # this one waits for the same
    busy = call.server.restrictions.busy
    if busy is not None and b"NOSAVE" not in words:
        raise busy  # the script that runs is half done
    if not call.server.shutdown.begin(frozenset(words)):
        raise CANNOT_SHUT_DOWN
    if call.server.shutdown.is_waiting:
        return new_block([], object, 0, NO_REPLY, NO_REPLY)
    call.client.close_after_reply = True  # commands pipelined after it do not run
    return NO_REPLY


def _shutdown_options(call: Call) -> set[bytes]:
    """The options, in capitals. Raises SYNTAX for options that contradict each other."""
    args = Args(call.argv)
    words: set[bytes] = set()
    while args.left():
        word = args.take_word(b"NOSAVE", b"SAVE", b"NOW", b"FORCE", b"ABORT")
        if word is None:
            raise errors.SYNTAX
        words.add(word)
    if {b"SAVE", b"NOSAVE"} <= words or (b"ABORT" in words and len(words) > 1):
        raise errors.SYNTAX
    return words
