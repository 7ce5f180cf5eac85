"""ACL itself, and what its subcommands have in common."""

from __future__ import annotations

from server.table.command import Flags, container, container_help

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
OPERATOR = ANYBODY | Flags.ADMIN

container("ACL", group="server", since="6.0.0", summary="Shows and changes users.")


container_help("ACL", group="server", since="6.0.0")
