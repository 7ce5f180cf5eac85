"""Loading the copy of a primary's data, in place of what this server had.

By default the old data go first: there may be no memory for both, and clients get -LOADING. With
``repl-diskless-load swapdb`` the copy is loaded beside them, and clients are served from the old
data until the new are whole. If the copy turns out to be broken, nothing has changed then.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from pathlib import Path
from typing import TypeAlias

from protocol.replies import ErrorReply
from server.parts.persistence.snapshot_loader import LoadFailed
from server.parts.persistence.stored_functions import FunctionTexts
from server.parts.state import ServerState
from storage.keyspace.keyspace import Keyspace

Steps: TypeAlias = Generator[None, None, None]

_log = logging.getLogger("penstock")


def load_copy(state: ServerState, path: Path) -> Steps:
    """Load the snapshot at *path*, yielding now and then.

    Raises LoadFailed and OSError; the databases are empty then, or as before with swapdb.
    """
    functions = FunctionTexts()
    state.persistence.stop_log()
    if state.config.repl_diskless_load == "swapdb":
        yield from _load_beside(state, path, functions)
    else:
        yield from _load_instead(state, path, functions)
    state.scripting.use_functions(None)  # those of the copy, and no others
    for source in functions.library_sources:
        try:
            state.scripting.load_stored(source, False)
        except ErrorReply as error:
            raise LoadFailed(f"a library of functions cannot be loaded: {error.text}") from None
    state.events.replica_expiry.clear()  # all keys are the primary's now


def _load_instead(state: ServerState, path: Path, functions: FunctionTexts) -> Steps:
    state.restrictions.set_phase(loading=True, stopping=state.restrictions.stopping)
    try:
        _log.info("MASTER <-> REPLICA sync: Flushing old data")
        state.empty(state.databases)
        _log.info("MASTER <-> REPLICA sync: Loading DB in memory")
        yield from state.persistence.load_copy(path, state.databases, functions)
    except BaseException:
        state.empty(state.databases)
        raise
    finally:
        state.restrictions.set_phase(loading=False, stopping=state.restrictions.stopping)


def _load_beside(state: ServerState, path: Path, functions: FunctionTexts) -> Steps:
    fresh = [Keyspace(db.index, state.events) for db in state.databases]
    _log.info("MASTER <-> REPLICA sync: Loading DB in memory")
    state.restrictions.set_async_loading(True)
    try:
        yield from state.persistence.load_copy(path, fresh, functions)
        for db, new in zip(state.databases, fresh, strict=True):
            state.swap(db, new)
        state.tracking.flushed()
    finally:
        state.restrictions.set_async_loading(False)
        for db in fresh:  # the old data, or a part of the new
            db.clear()
