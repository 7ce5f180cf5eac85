"""BACKUP: a copy of the data, of hard links to the append-only file's files."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.parts.persistence.backup import Backup, CannotBackUp
from server.parts.persistence.files import reason
from server.table.command import Flags, command, container, container_help

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT
LOOKS = Flags.ADMIN | Flags.STALE
SINCE = "8.10.0"

container("BACKUP", group="server", since=SINCE, summary="Makes copies of the data while serving.")


def _backup(call: Call) -> Backup:
    backup: Backup = call.server.persistence.backup
    return backup


def _refusal(error: Exception) -> ErrorReply:
    return ErrorReply("ERR", reason(error) if isinstance(error, OSError) else str(error))


@command("BACKUP START", arity=2, flags=OPERATOR, group="server", since=SINCE)
def backup_start(call: Call) -> Reply:
    """Begins a backup: the append-only file is rewritten, and is in it from then on.

    BACKUP START
    """
    try:
        _backup(call).start(call.is_inside())
    except (CannotBackUp, OSError) as error:
        raise _refusal(error) from None
    return OK


@command("BACKUP SEAL", arity=2, flags=OPERATOR, group="server", since=SINCE)
def backup_seal(call: Call) -> Reply:
    """Completes the backup: it has the data of this moment, and does not change any more.

    BACKUP SEAL
    """
    try:
        _backup(call).seal(call.is_inside())
    except (CannotBackUp, OSError) as error:
        raise _refusal(error) from None
    return OK


@command("BACKUP ABORT", arity=2, flags=OPERATOR, group="server", since=SINCE)
def backup_abort(call: Call) -> Reply:
    """Gives up a backup that is not sealed.

    BACKUP ABORT
    """
    try:
        _backup(call).abort()
    except CannotBackUp as error:
        raise _refusal(error) from None
    return OK


@command("BACKUP CLEANUP", arity=2, flags=OPERATOR, group="server", since=SINCE)
def backup_cleanup(call: Call) -> Reply:
    """Removes the files of the backup, which have been copied elsewhere.

    BACKUP CLEANUP
    """
    try:
        _backup(call).clean_up()
    except (CannotBackUp, OSError) as error:
        raise _refusal(error) from None
    return OK


@command("BACKUP STATUS", arity=2, flags=LOOKS, group="server", since=SINCE)
def backup_status(call: Call) -> Reply:
    """Shows how far the backup is, and when it began and ended.

    BACKUP STATUS
    """
    backup = _backup(call)
    return {
        b"state": backup.state.value.encode(),
        b"error": backup.error.encode("utf-8", "surrogateescape"),
        b"start_time": b"%d" % backup.started_s,
        b"end_time": b"%d" % backup.ended_s,
    }


@command("BACKUP LIST", arity=2, flags=LOOKS, group="server", since=SINCE)
def backup_list(call: Call) -> Reply:
    """Returns the paths of those of its files that do not change any more.

    BACKUP LIST
    """
    return [str(path).encode("utf-8", "surrogateescape") for path in _backup(call).paths()]


container_help("BACKUP", group="server", since=SINCE)
