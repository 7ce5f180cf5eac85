"""Where the users are kept: in redis.conf, or in the aclfile."""

from __future__ import annotations

from pathlib import Path

from server.config.parameters import Config
from server.config.user_lines import user_of
from server.parts.persistence.files import Files, replace_secret
from server.users import acl_file_text
from server.users.acl_file_text import BadAclFile
from server.users.user import User
from server.users.users import Users

BOTH = (
    "Configuring Redis with users defined in redis.conf and at the same setting an ACL file path is"
    " invalid. This setup is very likely to lead to configuration errors and security holes, please"
    " define either an ACL file or declare users directly in your redis.conf, but not both."
)


class BadUsers(Exception):
    """The server cannot start with the users that are configured; the message says why."""


def users_at_start(config: Config) -> list[User]:
    """The users of redis.conf or of the aclfile; none if neither has any. Raises BadUsers."""
    if config.aclfile and config.user_rules:
        raise BadUsers(BOTH)
    if not config.aclfile:
        return [
            user_of(name, rules, gives_all_channels(config))
            for name, rules in config.user_rules.items()
        ]
    try:
        return users_in_file(config)
    except BadAclFile as error:
        raise BadUsers(f"Aborting Redis startup because of ACL errors: {error}") from None


def gives_all_channels(config: Config) -> bool:
    """Whether new selectors have the rights on all channels."""
    return config.acl_pubsub_default == "allchannels"


def users_in_file(config: Config) -> list[User]:
    """The users of the aclfile. Raises BadAclFile."""
    try:
        text = Path(config.aclfile).read_bytes()
    except OSError as error:
        raise BadAclFile(
            f"Error loading ACLs, opening file '{config.aclfile}': {error.strerror}"
        ) from None
    return acl_file_text.users_in(text, config.aclfile, gives_all_channels(config))


def save_to_file(config: Config, users: Users) -> None:
    """Write *users* to the aclfile, all or nothing. Raises OSError."""
    data = b"".join(line + b"\n" for line in users.lines())
    replace_secret(Files(), Path(config.aclfile), data)
