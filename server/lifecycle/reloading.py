"""A reload: what a supervisor asks for when files that the server has read were changed.

These are the aclfile, as by ACL LOAD, and the files of TLS, as by CONFIG SET of one of them. Both
are taken, or neither. redis.conf is not read again: CONFIG SET has changed what it says.
"""

from __future__ import annotations

import logging

from server.config.parameters import BadValue
from server.parts.access.configured_users import users_in_file
from server.parts.state import ServerState
from server.users.acl_file_text import BadAclFile

_log = logging.getLogger("penstock")


def reload(state: ServerState) -> str:
    """Read the files again; why that could not be, and all is as before, or ""."""
    if state.restrictions.busy is not None:
        return _refused("a script is running")
    try:
        users = users_in_file(state.config) if state.config.aclfile else None
        state.addresses.follow_tls()
    except (BadAclFile, BadValue) as error:
        return _refused(str(error))
    if users is not None:
        state.access.replace_all(users, None)
    _log.info("Reloaded: the aclfile and the files of TLS, as far as they are configured")
    return ""


def _refused(why: str) -> str:
    _log.warning("Not reloaded: %s", why)
    return f"Not reloaded: {why}"
