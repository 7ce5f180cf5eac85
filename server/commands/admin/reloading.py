"""DEBUG RELOAD and LOADAOF: write all data to disk and load it again; no client is served."""

from __future__ import annotations

import logging

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.parts.persistence.snapshot_loader import LoadFailed
from server.table import errors

CANNOT_LOAD_SNAPSHOT = ErrorReply("ERR", "Error trying to load the RDB dump, check server logs.")
CANNOT_LOAD_LOG = ErrorReply("ERR", "Error trying to load the AOF files, check server logs.")
BAD_OPTION = ErrorReply("ERR", "DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")

_log = logging.getLogger("penstock")


def reload(call: Call) -> Reply:
    """Save, remove all data, load the snapshot; NOSAVE, NOFLUSH and MERGE leave steps out.

    Data are all keys, and all libraries of functions.
    """
    options = {word.upper() for word in call.argv[2:]}
    if options - {b"NOSAVE", b"NOFLUSH", b"MERGE"}:
        raise BAD_OPTION
    refuse_amid_work(call)
    persistence = call.server.persistence
    if b"NOSAVE" not in options and not persistence.snapshots.save_in_foreground():
        raise errors.FAILED
    if b"NOFLUSH" not in options:
        call.server.empty(call.server.databases)
        call.server.scripting.use_functions(None)
    try:
        persistence.reload_snapshot(replaces=b"MERGE" in options)
    except (LoadFailed, OSError) as error:
        _log.warning("%s", error)
        raise CANNOT_LOAD_SNAPSHOT from None
    return OK


def load_log(call: Call) -> Reply:
    """Remove all data, and load the append-only file."""
    refuse_amid_work(call)
    server = call.server
    if not server.persistence.append_only.log.flush():
        raise errors.FAILED
    server.empty(server.databases)
    server.scripting.use_functions(None)
    server.replay_failures.begin_load()
    try:
        server.persistence.reload_log(call.executor.replaying.begin)
    except (LoadFailed, OSError) as error:
        _log.warning("%s", error)
        raise CANNOT_LOAD_LOG from None
    finally:
        server.replay_failures.begin()  # why it has ended does not end the link to our primary
    return OK


def refuse_amid_work(call: Call) -> None:
    """See that no data are loaded now, at the start or from a primary, and that no script runs.

    Raises ErrorReply.
    """
    if call.server.scripting.run.is_on:
        raise errors.NOT_IN_SCRIPT
    if call.server.persistence.progress is not None:
        raise errors.LOADING
