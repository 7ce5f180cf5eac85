"""MODULE: this server loads no modules."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.client.permissions import permits
from server.dispatch.call import Call
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT
LOADS = OPERATOR | Flags.NO_ASYNC_LOADING

NOT_ALLOWED = ErrorReply(
    "ERR",
    'MODULE command not allowed. If the enable-module-command option is set to "local", you can run'
    " it from a local connection, otherwise you need to set this option in the configuration file,"
    " and then restart the server.",
)
NOT_LOADED = ErrorReply("ERR", "Error loading the extension. Please check the server logs.")
NOT_UNLOADED = ErrorReply("ERR", "Error unloading module: no such module with that name")

container("MODULE", group="server", since="4.0.0", summary="Lists modules: there are none.")


@command(
    "MODULE LIST",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="4.0.0",
    complexity="O(N) where N is the number of loaded modules.",
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def module_list(_call: Call) -> Reply:
    """Lists the loaded modules: none.

    MODULE LIST
    """
    return []


@command("MODULE LOAD", arity=-3, flags=LOADS, group="server", since="4.0.0")
def module_load(call: Call) -> Reply:
    """Always an error: this server loads no modules.

    MODULE LOAD path [arg [arg ...]]
    """
    raise _refusal(call, NOT_LOADED)


@command("MODULE LOADEX", arity=-3, flags=LOADS, group="server", since="7.0.0")
def module_loadex(call: Call) -> Reply:
    """Always an error: this server loads no modules.

    MODULE LOADEX path [CONFIG name value [CONFIG name value ...]] [ARGS args [args ...]]
    """
    raise _refusal(call, NOT_LOADED)


@command("MODULE UNLOAD", arity=3, flags=LOADS, group="server", since="4.0.0")
def module_unload(call: Call) -> Reply:
    """Always an error: no module is loaded.

    MODULE UNLOAD name
    """
    raise _refusal(call, NOT_UNLOADED)


def _refusal(call: Call, error: ErrorReply) -> ErrorReply:
    """*error*, for clients that may run such commands."""
    allowed = permits(call.server.config.enable_module_command, call.client)
    return error if allowed else NOT_ALLOWED


container_help("MODULE", group="server", since="5.0.0")
