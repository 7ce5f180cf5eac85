"""DEBUG: looks into the server and makes it fail; enable-debug-command in redis.conf allows it.

As in redis, the command table has no rows for the subcommands. They are in ACTIONS, with the number
of words that each takes.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from protocol.encoder import Encoder
from protocol.replies import OK, BigNumber, ErrorReply, Push, Reply, Set, Status, Verbatim
from server.client.permissions import permits
from server.commands.admin import debug_clock, debug_values, reloading
from server.config.parameter import parse_bytes
from server.config.parameters import BadValue
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_float, to_int
from server.table.command import Block, Flags, command
from server.table.documentation import OwnWords
from storage import octets
from storage.lists import quicklist

NOT_ALLOWED = ErrorReply(
    "ERR",
    'DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run'
    " it from a local connection, otherwise you need to set this option in the configuration file,"
    " and then restart the server.",
)
BAD_THRESHOLD = ErrorReply(
    "ERR", "argument must be a memory value bigger than 1 and smaller than 4gb"
)
NO_PUSH = ErrorReply("ERR", "RESP2 is not supported by this command")
BAD_PROTOCOL_TYPE = ErrorReply(
    "ERR",
    "Wrong protocol type name. Please use one of the following:"
    " string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
)


_log = logging.getLogger("penstock")


class Action(NamedTuple):
    """What follows DEBUG: at least and at most so many words, itself and DEBUG included."""

    run: Callable[[Call], Reply | Block]
    least: int
    most: int
    syntax: str
    summary: str


@command(
    "DEBUG",
    arity=-2,
    flags=Flags.ADMIN | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE | Flags.READS_OTHERS,
    group="server",
    since="1.0.0",
    complexity="Depends on subcommand.",
    own=[OwnWords("CLOCK", "moves or stops the time that clients see")],
)
def debug(call: Call) -> Reply | Block:
    """Looks into the server or makes it fail, for tests. enable-debug-command allows it.

    DEBUG subcommand [arg [arg ...]]
    """
    if not permits(call.server.config.enable_debug_command, call.client):
        raise NOT_ALLOWED
    action = ACTIONS.get(call.argv[1].upper())
    if action is None or not action.least <= len(call.argv) <= action.most:
        raise errors.bad_subcommand("debug", call.argv[1])
    return action.run(call)


# ---------------------------------------------------------------------- the server


def _sleep(call: Call) -> Reply:
    time.sleep(max(0.0, to_float(call.argv[2])))  # the whole server stops, as it should
    return OK


def _set_switch(call: Call) -> Reply:
    """Set the switch that the subcommand is named after. As in redis, other text counts as 0."""
    on = _number(call.argv[2]) != 0
    switches = call.server.config.switches
    match call.argv[1].upper():
        case b"SET-ACTIVE-EXPIRE":
            switches.active_expire = on
        case b"PAUSE-CRON":
            switches.cron = not on
        case b"SET-SKIP-CHECKSUM-VALIDATION":
            switches.checksums = not on
        case b"SET-DISABLE-DENY-SCRIPTS":
            switches.scripts_run_all = on
        case b"SET-ALLOW-ACCESS-EXPIRED":
            call.server.events.lookup.keeps_expired = on
    return OK


def _log_message(call: Call) -> Reply:
    _log.warning("DEBUG LOG: %s", errors.text_of(call.argv[2]))
    return OK


def _without_effect(call: Call) -> Reply:
    """Check the words and do nothing."""
    return OK


def _replicate(call: Call) -> Reply:
    """Send replicas a command that is not run here: their data differ from now on."""
    call.server.replication.feed.publish(call.db.index, call.argv[2:])
    return OK


def _change_replication_id(call: Call) -> Reply:
    call.server.replication.rename_history()
    return OK


def _number(text: bytes) -> int:
    return int(octets.int64_of(text)) if octets.is_int64(text) else 0


def _flush_sleep(call: Call) -> Reply:
    microseconds = max(0, _number(call.argv[2]))
    call.server.config.switches.flush_sleep_s = microseconds / 1_000_000
    return OK


def _reply_buffer(call: Call) -> Reply:
    """Check the words and do nothing: reply buffers have no peak that could be reset."""
    word, value = call.argv[2].upper(), call.argv[3]
    if word not in (b"PEAK-RESET-TIME", b"RESIZING"):
        raise errors.bad_subcommand("debug", call.argv[1])
    if word == b"PEAK-RESET-TIME" and value.upper() not in (b"NEVER", b"RESET"):
        to_int(value)
    return OK


def _quicklist_packed_threshold(call: Call) -> Reply:
    try:
        size = parse_bytes(call.argv[2].decode("utf-8", "replace"))
    except BadValue:
        raise BAD_THRESHOLD from None
    if not quicklist.set_packed_threshold(size):
        raise BAD_THRESHOLD
    return OK


# ---------------------------------------------------------------------- crashes


def _segfault(_call: Call) -> Reply:
    """End by SIGSEGV."""
    signal.raise_signal(signal.SIGSEGV)
    return None


def _panic(call: Call) -> Reply:
    """Say what Redis says, and end by SIGABRT; with use-exit-on-panic by status 1."""
    _log.warning("------------------------------------------------")
    _log.warning("!!! Software Failure. Press left mouse button to continue")
    _log.warning("Guru Meditation: DEBUG PANIC called at Unix time %d", int(time.time()))
    _log.warning("------------------------------------------------")
    return _end(call)


def _failed_assertion(call: Call) -> Reply:
    """Stop as if a condition that the server relies on had turned out to be false."""
    _log.warning("=== ASSERTION FAILED ===")
    _log.warning("==> DEBUG ASSERT '1 == 2' is not true")
    return _end(call)


def _end(call: Call) -> Reply:
    if call.server.config.use_exit_on_panic:
        os._exit(1)
    os.abort()


# ---------------------------------------------------------------------- the protocol


def _protocol(call: Call) -> Reply:
    """A reply of the RESP type that the client names."""
    kind = call.argv[2].lower()
    if kind in SAMPLES:
        sample: Reply = SAMPLES[kind]
        return sample
    out = Encoder(call.client.out.resp)
    if kind == b"attrib":
        if out.resp == 3:
            out.raw(b"|1\r\n")
            out.write(b"key-popularity")
            out.write([b"key:123", 90])
        out.write(b"Some real reply following the attribute")
    elif kind == b"push":
        if out.resp == 2:
            raise NO_PUSH
        out.write(Push([b"server-cpu-usage", 42]))
        out.write(b"Some real reply following the push reply")
    else:
        raise BAD_PROTOCOL_TYPE
    return out


def _error(call: Call) -> Reply:
    """An error in the client's own words, for tests of clients. INFO does not count it."""
    out = Encoder(call.client.out.resp)
    out.raw(b"-%b\r\n" % call.argv[2].replace(b"\r", b" ").replace(b"\n", b" "))
    return out


SAMPLES: dict[bytes, Any] = {
    b"string": b"Hello World",
    b"integer": 12345,
    b"double": 3.141,
    b"null": None,
    b"array": [0, 1, 2],
    b"set": Set([0, 1, 2]),
    b"map": {0: False, 1: True, 2: False},
    b"verbatim": Verbatim(b"This is a verbatim\nstring"),
    b"true": True,
    b"false": False,
    b"bignum": BigNumber(1234567999999999999999999999999999999),
}


def _help(_call: Call) -> Reply:
    lines = ["DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"]
    for action in ACTIONS.values():
        lines += [action.syntax, "    " + action.summary]
    return [Status(line.encode()) for line in lines]


ACTIONS = {
    b"ASSERT": Action(
        _failed_assertion, 2, 2, "ASSERT", "Ends the server by a failed assertion."
    ),
    b"AOF-FLUSH-SLEEP": Action(
        _flush_sleep, 3, 3, "AOF-FLUSH-SLEEP <microseconds>",
        "Waits so long before each write to the append-only file; 0: does not wait.",
    ),
    b"CHANGE-REPL-ID": Action(
        _change_replication_id, 2, 2, "CHANGE-REPL-ID",
        "Gives the replication history another name: replicas have to copy all data.",
    ),
    b"CLOCK": Action(
        debug_clock.clock, 2, 4,
        "CLOCK [<+|-><n><ms|s|m|h|d>|AT <unix-time-ms>|FREEZE|THAW|RESET]",
        "Moves or stops the time that clients see, does what is due by then, and tells what time it"
        " is; RESET: the system's time again.",
    ),
    b"DIGEST": Action(
        debug_values.digest_of_data, 2, 2, "DIGEST",
        "Answers a number that stands for all data: servers with the same data have the same.",
    ),
    b"DIGEST-VALUE": Action(
        debug_values.digests_of_values, 2, sys.maxsize, "DIGEST-VALUE <key> [<key> ...]",
        "The same for the value at each key.",
    ),
    b"ERROR": Action(
        _error, 3, 3, "ERROR <string>", "Answers with this error; its first word is the code."
    ),
    b"LEAK": Action(
        _without_effect, 3, 3, "LEAK <string>", "Is accepted; no memory is lost by it here."
    ),
    b"LISTPACK": Action(
        debug_values.listpack, 3, 3, "LISTPACK <key>",
        "Writes the listpack that is the value to the log.",
    ),
    b"LOADAOF": Action(
        reloading.load_log, 2, 2, "LOADAOF", "Forgets all data, and loads the append-only file."
    ),
    b"LOG": Action(_log_message, 3, 3, "LOG <message>", "Writes the message to the log."),
    b"OBJECT": Action(debug_values.kept_as, 3, 3, "OBJECT <key>", "Tells how the value is kept."),
    b"PANIC": Action(_panic, 2, 2, "PANIC", "Ends the server as a bug of it would."),
    b"PAUSE-CRON": Action(
        _set_switch, 3, 3, "PAUSE-CRON <0|1>",
        "Stops what happens although no client asks for it, or lets it go on.",
    ),
    b"POPULATE": Action(
        debug_values.populate, 3, 5, "POPULATE <count> [<prefix>] [<size>]",
        "Makes string keys: key:0, key:1 ..., or with another prefix, and values of that size.",
    ),
    b"PROTOCOL": Action(
        _protocol, 3, 3, "PROTOCOL <type>",
        "Answers a value of a type: string integer double bignum null array set map attrib push"
        " verbatim true false.",
    ),
    b"QUICKLIST": Action(
        debug_values.list_nodes, 3, 4, "QUICKLIST <key> [<0|1>]",
        "Writes the sizes of the nodes of a list to the log.",
    ),
    b"QUICKLIST-PACKED-THRESHOLD": Action(
        _quicklist_packed_threshold, 3, 3, "QUICKLIST-PACKED-THRESHOLD <size>",
        "Sets from which size on an element of a list has a node of its own; 0: the default.",
    ),
    b"RELOAD": Action(
        reloading.reload, 2, 5, "RELOAD [NOSAVE|NOFLUSH|MERGE ...]",
        "Saves all data, forgets it, and loads it again. NOSAVE loads what was saved before;"
        " NOFLUSH forgets nothing; MERGE lets what is loaded take the place of what is there.",
    ),
    b"REPLICATE": Action(
        _replicate, 3, sys.maxsize, "REPLICATE <command> [<arg> ...]",
        "Sends replicas a command that is not run here, so that their data differ.",
    ),
    b"REPLY-COPY-AVOIDANCE": Action(
        _without_effect, 3, 3, "REPLY-COPY-AVOIDANCE <0|1>",
        "Is accepted; large replies are never copied here.",
    ),
    b"DICT-RESIZING": Action(
        _without_effect, 3, 3, "DICT-RESIZING <0|1>",
        "Is accepted; tables grow by small parts here, which nothing need hold up.",
    ),
    b"REPLYBUFFER": Action(
        _reply_buffer, 4, 4, "REPLYBUFFER <PEAK-RESET-TIME <never|reset|ms>|RESIZING <0|1>>",
        "Is accepted; reply buffers are not resized here.",
    ),
    b"SDSLEN": Action(
        debug_values.string_sizes, 3, 3, "SDSLEN <key>",
        "Tells the lengths of the key and its string, and what memory they take.",
    ),
    b"SEGFAULT": Action(_segfault, 2, 2, "SEGFAULT", "Ends the server by SIGSEGV."),
    b"SET-ACTIVE-EXPIRE": Action(
        _set_switch, 3, 3, "SET-ACTIVE-EXPIRE <0|1>",
        "Stops the cycle that frees expired keys nobody looks at, or lets it go on.",
    ),
    b"SET-ALLOW-ACCESS-EXPIRED": Action(
        _set_switch, 3, 3, "SET-ALLOW-ACCESS-EXPIRED <0|1>",
        "Lets commands see keys and fields that have expired, or no more.",
    ),
    b"SET-DISABLE-DENY-SCRIPTS": Action(
        _set_switch, 3, 3, "SET-DISABLE-DENY-SCRIPTS <0|1>",
        "Lets scripts call the commands that are not for them, or no more.",
    ),
    b"SET-SKIP-CHECKSUM-VALIDATION": Action(
        _set_switch, 3, 3, "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
        "Lets RESTORE take payloads whose checksum is wrong, or no more.",
    ),
    b"SLEEP": Action(_sleep, 3, 3, "SLEEP <seconds>", "Stops the server for that long."),
    b"HELP": Action(_help, 2, 2, "HELP", "Lists the subcommands."),
}  # fmt: skip
