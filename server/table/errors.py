"""The texts of all errors that clients get, word for word those of redis."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table import not_served
from storage import errors as storage_errors
from storage.rdb.errors import BadPayload, UnknownType

WIRE_TEXT: dict[type[storage_errors.StorageError], tuple[str, str]] = {
    storage_errors.WrongType: (
        "WRONGTYPE",
        "Operation against a key holding the wrong kind of value",
    ),
    storage_errors.BadStreamId: ("ERR", "Invalid stream ID specified as stream command argument"),
    storage_errors.IdIsZero: ("ERR", "The ID specified in XADD must be greater than 0-0"),
    storage_errors.IdNotGreater: (
        "ERR",
        "The ID specified in XADD is equal or smaller than the target stream top item",
    ),
    storage_errors.IdsExhausted: (
        "ERR",
        "The stream has exhausted the last possible ID, unable to add more items",
    ),
    storage_errors.TooLarge: ("ERR", "Elements are too large to be stored"),
    storage_errors.BelowMaxDeleted: (
        "ERR",
        "The ID specified in XSETID is smaller than current max_deleted_entry_id",
    ),
    storage_errors.LastIdTooSmall: (
        "ERR",
        "The ID specified in XSETID is smaller than the target stream top item",
    ),
    storage_errors.TooFewAdded: (
        "ERR",
        "The entries_added specified in XSETID is smaller than the target stream length",
    ),
    storage_errors.GroupExists: ("BUSYGROUP", "Consumer Group name already exists"),
    storage_errors.Corrupt: ("ERR", "Bad data format"),
    storage_errors.Truncated: ("ERR", "Bad data format"),
    UnknownType: ("ERR", "Bad data format"),
    BadPayload: ("ERR", "DUMP payload version or checksum are wrong"),
}

SYNTAX = ErrorReply("ERR", "syntax error")
NOT_AN_INTEGER = ErrorReply("ERR", "value is not an integer or out of range")
NOT_A_FLOAT = ErrorReply("ERR", "value is not a valid float")
OUT_OF_RANGE = ErrorReply("ERR", "value is out of range")
NOT_POSITIVE = ErrorReply("ERR", "value is out of range, must be positive")
NO_SUCH_KEY = ErrorReply("ERR", "no such key")
INDEX_OUT_OF_RANGE = ErrorReply("ERR", "index out of range")
TIMEOUT_NOT_A_FLOAT = ErrorReply("ERR", "timeout is not a float or out of range")
TIMEOUT_NOT_AN_INTEGER = ErrorReply("ERR", "timeout is not an integer or out of range")
TIMEOUT_OUT_OF_RANGE = ErrorReply("ERR", "timeout is out of range")
TIMEOUT_NEGATIVE = ErrorReply("ERR", "timeout is negative")
STRING_TOO_LARGE = ErrorReply("ERR", "string exceeds maximum allowed size (proto-max-bulk-len)")
NOT_32_BIT = ErrorReply(
    "ERR", "value is out of range, value must between -2147483648 and 2147483647"
)
SAME_OBJECT = ErrorReply("ERR", "source and destination objects are the same")
DB_OUT_OF_RANGE = ErrorReply("ERR", "DB index is out of range")

# ---------------------------------------------------------------------- scripts

NO_SUCH_SCRIPT = ErrorReply("NOSCRIPT", "No matching script. Please use EVAL.")
BUSY_SCRIPT = ErrorReply(
    "BUSY",
    "Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
)
BUSY_FUNCTION = ErrorReply(
    "BUSY",
    "Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
)
UNKNOWN_IN_SCRIPT = ErrorReply("ERR", "Unknown Redis command called from script")
WRONG_ARITY_IN_SCRIPT = ErrorReply("ERR", "Wrong number of args calling Redis command from script")
NOT_IN_SCRIPT = ErrorReply("ERR", "This Redis command is not allowed from script")
STALE_IN_SCRIPT = ErrorReply("ERR", "Can not execute the command on a stale replica")
READ_ONLY_SCRIPT = ErrorReply("ERR", "Write commands are not allowed from read-only scripts.")


class CountedError(ErrorReply):
    """What has ended a script, and is in the statistics already: a command in it was refused."""


# ---------------------------------------------------------------------- who may do what

NO_AUTH = ErrorReply("NOAUTH", "Authentication required.")
OUT_OF_MEMORY = ErrorReply("OOM", "command not allowed when used memory > 'maxmemory'.")
NO_MEMORY = ErrorReply("OOM", "the system gives the server no more memory; nothing was changed.")
INTERNAL = ErrorReply("ERR", "internal error; the server's log has the details")
LOADING = ErrorReply("LOADING", "Redis is loading the dataset in memory")
SAVING_FAILED = ErrorReply(
    "MISCONF",
    "Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."
    " Commands that may modify the data set are disabled, because this instance is configured to"
    " report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option)."
    " Please check the Redis logs for details about the RDB error.",
)
SAVE_IN_PROGRESS = ErrorReply("ERR", "Background save already in progress")
OTHER_CHILD = ErrorReply(
    "ERR",
    "Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order"
    " to schedule a BGSAVE whenever possible.",
)
FAILED = ErrorReply("ERR", "")  # the server log says why
READ_ONLY_REPLICA = ErrorReply("READONLY", "You can't write against a read only replica.")
TOO_FEW_REPLICAS = ErrorReply("NOREPLICAS", "Not enough good replicas to write.")
PRIMARY_IS_DOWN = ErrorReply(
    "MASTERDOWN", "Link with MASTER is down and replica-serve-stale-data is set to 'no'."
)
NO_QUORUM = ErrorReply(
    "NOQUORUM", "No quorum of replicas was heard within replica-quorum-lease; nothing was executed."
)
CONFIRMS_NOTHING = ErrorReply(
    "NOQUORUM", "A replica confirms nothing; for its own data, send CLIENT ACKS OFF first."
)
NOT_CONFIRMED_BEFORE = ErrorReply(
    "NOTCONFIRMED", "Executed here, but not confirmed before this server has changed its role."
)
NOT_CONFIRMED_CHANGED = ErrorReply(
    "NOTCONFIRMED", "Executed here, but not confirmed before CLIENT ACKS was changed so often."
)
BECAME_REPLICA = ErrorReply(
    "UNBLOCKED",
    "force unblock from blocking operation, instance state changed (master -> replica?)",
)
NOT_FOR_MONITORS = ErrorReply("ERR", "Replica can't interact with the keyspace")
NOT_IN_MULTI = ErrorReply("ERR", "Command not allowed inside a transaction")
EXEC_ABORTED = ErrorReply("EXECABORT", "Transaction discarded because of previous errors.")
UNBLOCKED = ErrorReply("UNBLOCKED", "client unblocked via CLIENT UNBLOCK")
BAD_CLIENT_NAME = ErrorReply(
    "ERR", "Client names cannot contain spaces, newlines or special characters."
)

TOO_MANY_CLIENTS = ErrorReply("ERR", "max number of clients reached")
PROTECTED_MODE = ErrorReply(
    "DENIED",
    "Penstock is running in protected mode because protected mode is enabled and no password is set"
    " for the default user. In this mode connections are only accepted from the loopback interface."
    " If you want to connect from external computers, set a password with 'requirepass', or start"
    " the server with '--protected-mode no' if it cannot be reached from outside.",
)

MAX_ECHO = 128  # bytes of a client's words that an error repeats, so that replies stay small


def not_confirmed(wanted: int, fsync: bool, timeout_ms: int) -> ErrorReply:
    """*wanted* replicas (0: a quorum) have not said that they have it, with *fsync* on disk."""
    who = "a quorum of replicas" if not wanted else f"{wanted} replica{'s' * (wanted > 1)}"
    what = "on disk by " if fsync else "by "
    return ErrorReply(
        "NOTCONFIRMED", f"Executed here, but not confirmed {what}{who} within {timeout_ms} ms."
    )


def folder_in_use(reason: str) -> ErrorReply:
    """Nothing can be saved: another server has locked the folder, as *reason* tells."""
    return ErrorReply("ERR", reason)


def aof_write_failed(reason: str) -> ErrorReply:
    """The AOF cannot be written, for *reason*."""
    return ErrorReply("MISCONF", f"Errors writing to the AOF file: {reason}")


def aof_write_failed_afterwards(reason: str) -> ErrorReply:
    """The AOF could not be written, for *reason*, after the client's commands had run."""
    return ErrorReply(
        "MISCONF",
        f"Errors writing to the AOF file: {reason}. What was sent with this may have been done or"
        " not: it is not promised to be kept",
    )


def exec_aborted(reason: ErrorReply) -> ErrorReply:
    """The error of an EXEC that is refused for *reason*, whose code is left out if it is ERR."""
    why = reason.text if reason.code == "ERR" else f"{reason.code} {reason.text}"
    return ErrorReply("EXECABORT", f"Transaction discarded because of: {why}")


def not_for_subscribers(name: str) -> ErrorReply:
    """The error of a command that a subscribed client may not run in RESP2."""
    return ErrorReply(
        "ERR",
        f"Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are"
        " allowed in this context",
    )


def not_replayed(name: str) -> ErrorReply:
    """The error of a command that no server logs, or sends to its replicas: it is not run again."""
    return ErrorReply("ERR", f"'{name}' is no command that is logged, or sent to replicas")


def unknown_in_log(name: bytes) -> ErrorReply:
    """The error of a command in an append-only file that this server does not have."""
    return ErrorReply("ERR", f"Unknown command '{text_of(name)}'")


def wrong_arity(name: str) -> ErrorReply:
    return ErrorReply("ERR", f"wrong number of arguments for '{name}' command")


def unknown_command(argv: list[bytes]) -> ErrorReply:
    """Names the command and its first arguments, 128 bytes of each at most.

    For a command that Redis has and this server does not, it has the reason instead.
    """
    name = text_of(argv[0], MAX_ECHO)
    reason = not_served.reason_for(name.upper())
    if reason:
        return ErrorReply("ERR", f"unknown command '{name}': {reason}")
    words = ""
    for word in argv[1:]:
        if len(words) >= MAX_ECHO:
            break
        words += f"'{text_of(word, MAX_ECHO - len(words))}' "
    return ErrorReply("ERR", f"unknown command '{name}', with args beginning with: {words}")


def unknown_subcommand(container: str, word: bytes) -> ErrorReply:
    text = text_of(word, MAX_ECHO)
    return ErrorReply("ERR", f"unknown subcommand '{text}'. Try {container.upper()} HELP.")


def bad_subcommand(container: str, word: bytes) -> ErrorReply:
    """The error for a subcommand with too many arguments."""
    text = text_of(word, MAX_ECHO)
    return ErrorReply(
        "ERR",
        f"unknown subcommand or wrong number of arguments for '{text}'."
        f" Try {container.upper()} HELP.",
    )


def no_such_group(group: bytes, key: bytes) -> ErrorReply:
    return ErrorReply(
        "NOGROUP", f"No such consumer group '{_whole(group)}' for key name '{_whole(key)}'"
    )


def no_such_key_or_group(key: bytes, group: bytes, where: str = "") -> ErrorReply:
    return ErrorReply(
        "NOGROUP", f"No such key '{_whole(key)}' or consumer group '{_whole(group)}'{where}"
    )


def on_the_wire(error: storage_errors.StorageError) -> ErrorReply:
    """The reply to a client whose command storage has refused."""
    code, text = WIRE_TEXT[type(error)]
    return ErrorReply(code, f"{text}: {error}" if isinstance(error, UnknownType) else text)


def text_of(word: bytes, most: int = MAX_ECHO) -> str:
    """The first bytes of a client's *word*, *most* at most, as text for an error."""
    return word[:most].decode("utf-8", "surrogateescape")


def _whole(word: bytes) -> str:
    return text_of(word, len(word))
