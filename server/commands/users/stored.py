"""ACL LOAD and SAVE: the users of the aclfile."""

from __future__ import annotations

import logging

from protocol.replies import OK, ErrorReply, Reply
from server.commands.users.acl import OPERATOR
from server.dispatch.call import Call
from server.parts.access.configured_users import save_to_file, users_in_file
from server.table.command import command
from server.table.documentation import Tip
from server.users.acl_file_text import BadAclFile

EVERYWHERE = [Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED]

NO_FILE = ErrorReply(
    "ERR",
    "This Redis instance is not configured to use an ACL file. You may want to specify users via"
    " the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis"
    " configuration file set) in order to store users in the Redis configuration.",
)
NOT_SAVED = ErrorReply(
    "ERR",
    "There was an error trying to save the ACLs. Please check the server logs for more information",
)

_log = logging.getLogger("penstock")


@command(
    "ACL LOAD",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of users, and of clients.",
)
def acl_load(call: Call) -> Reply:
    """Replaces all users by those of the aclfile; if it has an error, nothing changes.

    ACL LOAD
    """
    if not call.server.config.aclfile:
        raise NO_FILE
    try:
        users = users_in_file(call.server.config)
    except BadAclFile as error:
        raise ErrorReply("ERR", str(error)) from None
    call.server.access.replace_all(users, call.client)
    return OK


@command(
    "ACL SAVE",
    arity=2,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of users.",
    tips=EVERYWHERE,
)
def acl_save(call: Call) -> Reply:
    """Writes all users to the aclfile, in place of what it holds.

    ACL SAVE
    """
    config = call.server.config
    if not config.aclfile:
        raise NO_FILE
    try:
        save_to_file(config, call.server.access.users)
    except OSError as error:
        _log.warning("Saving the users to %s: %s", config.aclfile, error.strerror)
        raise NOT_SAVED from None
    return OK
