"""CONFIG: shows and changes the parameters of the running server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from protocol.replies import OK, ErrorReply, Reply
from server.client import client_line
from server.client.permissions import permits
from server.config import redis_conf
from server.config.parameter import Missing
from server.config.parameters import TLS_SETTINGS, BadValue, Config, Parameter
from server.config.user_lines import user_lines
from server.dispatch.call import Call
from server.parts.persistence.folder_lock import FolderInUse
from server.parts.persistence.manifest import BadManifest
from server.parts.state import ServerState
from server.process import log, process
from server.table import errors
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip
from storage import glob

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE

LEAST_BACKLOG = 16 * 1024  # bytes, as in Redis

NO_FILE = ErrorReply("ERR", "The server is running without a config file")

container("CONFIG", group="server", since="2.0.0", summary="Shows and changes the configuration.")

# ---------------------------------------------------------------------- CONFIG GET


@command(
    "CONFIG GET",
    arity=-3,
    flags=OPERATOR,
    group="server",
    since="2.0.0",
    complexity="O(N) where N is the number of parameters asked for.",
    history=[("7.0.0", "More than one pattern at a time.")],
)
def config_get(call: Call) -> Reply:
    """Returns the values of the parameters whose names match.

    CONFIG GET parameter [parameter ...]
    """
    config = call.server.config
    found: dict[str, tuple[str, Parameter[Any]]] = {}
    for pattern in call.argv[2:]:
        for name, row in _matching(config, pattern):
            found.setdefault(name.lower(), (name, row))
    return {_bytes(name): _bytes(config.show(row)) for name, row in found.values()}


def _matching(config: Config, pattern: bytes) -> list[tuple[str, Parameter[Any]]]:
    """The parameters that match *pattern*, old names included. A plain name stays as spelled."""
    if not any(wildcard in pattern for wildcard in b"*?["):
        row = config.parameter(_text(pattern))
        return [] if row is None else [(_text(pattern), row)]
    return [
        (name, row)
        for name, row in config.names().items()
        if not row.hidden and glob.match(pattern, name.encode(), nocase=True)
    ]


# ---------------------------------------------------------------------- CONFIG SET


SECRETS = frozenset(
    (b"requirepass", b"masterauth", b"primaryauth", b"masteruser", b"primaryuser",
     b"tls-key-file-pass", b"tls-client-key-file-pass")
)  # fmt: skip


def secrets_of_config_set(argv: list[bytes]) -> list[int]:
    """The places of secret values."""
    return [at + 1 for at in range(2, len(argv) - 1, 2) if argv[at].lower() in SECRETS]


class Change(NamedTuple):
    """One parameter to set: its name as the client spells it, and the text of its value."""

    name: str
    row: Parameter[Any]
    text: str


def failed(name: str, reason: str) -> ErrorReply:
    """The error of CONFIG SET for the parameter *name*, which *reason* forbids to set."""
    return ErrorReply(
        "ERR", f"CONFIG SET failed (possibly related to argument '{name}') - {reason}"
    )


@command(
    "CONFIG SET",
    arity=-4,
    flags=OPERATOR,
    group="server",
    since="2.0.0",
    complexity="O(N) where N is the number of parameters to set.",
    secrets=secrets_of_config_set,
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
    history=[("7.0.0", "More than one parameter at a time.")],
)
def config_set(call: Call) -> Reply:
    """Sets parameters: all of those given or, if one is refused, none.

    CONFIG SET parameter value [parameter value ...]
    """
    config = call.server.config
    changes = _changes(call)
    before = [(row, config.value(row)) for _, row, _ in changes]
    try:
        _set_all(call.server, changes)
    except Exception:
        for row, value in before:
            config.set(row, value)
        for change in changes:
            with contextlib.suppress(BadValue):
                _apply(call.server, change)
        raise
    return OK


def _changes(call: Call) -> list[Change]:
    """The changes that *argv* asks for. Raises ErrorReply at one that is never allowed."""
    words = [_text(word) for word in call.argv[2:]]
    if len(words) % 2:
        raise errors.SYNTAX
    changes: list[Change] = []
    for name, text in zip(words[::2], words[1::2], strict=True):
        row = _settable(call, name, text)
        if name.lower() in (earlier.name.lower() for earlier in changes):
            raise failed(name, "duplicate parameter")
        changes.append(Change(name, row, text))
    return changes


def _settable(call: Call, name: str, text: str) -> Parameter[Any]:
    """The parameter *name*, which may be set. Raises ErrorReply."""
    config = call.server.config
    row: Parameter[Any] | None = config.parameter(name)
    if row is None:
        raise ErrorReply("ERR", f"Unknown option or number of arguments for CONFIG SET - '{name}'")
    if not row.mutable:
        raise failed(name, f"can't set immutable config{_what_is_missing(config, row, text)}")
    if row.protected and not permits(config.enable_protected_configs, call.client):
        raise failed(name, "can't set protected config")
    return row


def _what_is_missing(config: Config, row: Parameter[Any], text: str) -> str:
    """The feature that this value would switch on, after a colon, if there is no such feature."""
    try:
        config.parse(row, text)
    except Missing as missing:
        return f": {missing}"
    except BadValue:
        pass
    return ""


def _set_all(state: ServerState, changes: list[Change]) -> None:
    """Set all values, then run what has to follow. Raises ErrorReply."""
    for change in changes:
        try:
            state.config.set(change.row, state.config.parse(change.row, change.text))
        except BadValue as error:
            raise failed(change.name.lower(), str(error)) from None
    for change in changes:
        try:
            _apply(state, change)
        except BadValue as error:
            raise failed(change.name.lower(), str(error)) from None
    state.follow_config()


def _apply(state: ServerState, change: Change) -> None:
    apply = APPLY.get(change.row.name)
    if apply is not None:
        apply(state)


def _apply_appendonly(state: ServerState) -> None:
    try:
        state.persistence.switch_log()
    except (OSError, BadManifest) as error:
        raise BadValue(f"Unable to turn on AOF: {error}") from None


def _apply_dir(state: ServerState) -> None:
    try:
        state.persistence.folder.claim_next(Path(state.config.dir))
        process.change_directory(state.config)
    except FolderInUse as error:
        raise BadValue(str(error)) from None
    except OSError as error:
        raise BadValue(str(error.strerror)) from None


def _apply_save(state: ServerState) -> None:
    """A server that begins to save locks its folder."""
    if state.config.save:
        try:
            state.persistence.folder.claim()
        except FolderInUse as error:
            raise BadValue(str(error)) from None


def _apply_maxclients(state: ServerState) -> None:
    limit = process.allowed_clients(state.config.maxclients)
    if limit < state.config.maxclients:
        raise BadValue(
            "The operating system is not able to handle the specified number of clients,"
            f" try with {limit}"
        )


def _apply_output_limits(state: ServerState) -> None:
    limits = state.config.client_output_buffer_limit
    for client in state.clients.values():
        client.limit_output(limits[client_line.limit_class_of(client)].hard)


# What must run at once when a parameter changes; most parameters are read when they are needed.
def _apply_backlog_size(state: ServerState) -> None:
    """Redis takes a smaller size, and makes it the least."""
    state.config.repl_backlog_size = max(state.config.repl_backlog_size, LEAST_BACKLOG)


APPLY: dict[str, Callable[[ServerState], None]] = {
    "appendonly": _apply_appendonly,
    "bind": lambda state: state.addresses.follow_bind(),
    "client-output-buffer-limit": _apply_output_limits,
    "dir": _apply_dir,
    "loglevel": lambda state: log.set_level(state.config),
    "maxclients": _apply_maxclients,
    "metrics-bind": lambda state: state.addresses.follow_bind(),
    "metrics-port": lambda state: state.addresses.follow_port("metrics-port"),
    "port": lambda state: state.addresses.follow_port("port"),
    "repl-backlog-size": _apply_backlog_size,
    "save": _apply_save,
    "tls-port": lambda state: state.addresses.follow_port("tls-port"),
    **dict.fromkeys(TLS_SETTINGS, lambda state: state.addresses.follow_tls()),
}

# ---------------------------------------------------------------------- the others


@command(
    "CONFIG RESETSTAT",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="2.0.0",
    complexity="O(N) where N is the number of commands.",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def config_resetstat(call: Call) -> Reply:
    """Sets the counters that INFO shows to zero.

    CONFIG RESETSTAT
    """
    call.server.reset_statistics()
    return OK


@command(
    "CONFIG REWRITE",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="2.8.0",
    complexity="O(N) where N is the size of the file.",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def config_rewrite(call: Call) -> Reply:
    """Writes the values in force to the configuration file, whose comments stay.

    CONFIG REWRITE
    """
    config = call.server.config
    if config.file is None:
        raise NO_FILE
    users = [] if config.aclfile else user_lines(call.server.access.users, config.requirepass)
    try:
        redis_conf.rewrite_file(config, users)
    except OSError as error:
        raise ErrorReply("ERR", f"Rewriting config file: {error.strerror}") from None
    return OK


container_help("CONFIG", group="server", since="5.0.0")


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
