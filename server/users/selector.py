"""A selector: rights on commands, keys and channels that hold together.

    +get ~cache:*            the rules of a user outside of parentheses are its first selector
    (+set ~jobs:* &jobs)     each pair of parentheses is one more

A command is allowed if one selector alone allows all of it.
"""

from __future__ import annotations

from server.table.command import Command
from server.table.keys import KeyUse, rights_for
from server.users import bad_rule, denial
from server.users.bad_rule import BadRule
from server.users.channel_rights import ChannelRights
from server.users.command_rights import CommandRights
from server.users.denial import Denial
from server.users.key_rights import KeyRights

PLUS, MINUS = ord("+"), ord("-")


class Selector:
    """Begins without any rights; *all_channels*: but for those on channels."""

    __slots__ = ("channels", "commands", "keys")

    def __init__(self, all_channels: bool = False) -> None:
        self.commands = CommandRights()
        self.keys = KeyRights()
        self.channels = ChannelRights(all_channels)

    def copy(self) -> Selector:
        other = Selector()
        other.commands = self.commands.copy()
        other.keys = self.keys.copy()
        other.channels = self.channels.copy()
        return other

    # ------------------------------------------------------------------ what is allowed

    @property
    def is_full(self) -> bool:
        """Whether it allows everything."""
        return self.commands.are_full and self.keys.are_full and self.channels.are_full

    def allows(self, command: Command, argv: list[bytes]) -> bool:
        """Whether it allows *argv*, as far as that is told at once: for nearly all commands.

        If it is False, denial() knows better.
        """
        if command.channels is not None or not self.commands.allow(command, argv):
            return False
        if self.keys.are_full:
            return True
        if command.get_keys is not None:
            return False
        if command.one_key_at:
            return self.keys.allow(argv[command.one_key_at], command.one_key_rights)
        for spec in command.found_by:
            keys = spec.keys_in(argv)
            if keys is None:
                return False
            for key in keys:
                if not self.keys.allow(key, spec.rights):
                    return False
        return True

    def denial(self, command: Command, argv: list[bytes], uses: list[KeyUse]) -> Denial | None:
        """Why it does not allow *argv*, which names the keys *uses*; None if it does."""
        if not self.commands.allow(command, argv):
            return Denial(denial.COMMAND, 0, command.name.encode())
        if not self.keys.are_full:
            for at, use in enumerate(uses):
                if not self.keys.allow(use.key, rights_for(use.flags)):
                    return Denial(denial.KEY, at, use.key)
        spec = command.channels
        if spec is not None and not self.channels.are_full:
            for at, name in enumerate(spec.channels_in(argv)):
                if not self.channels.allow(name, spec.are_patterns):
                    return Denial(denial.CHANNEL, at, name)
        return None

    # ------------------------------------------------------------------ rules

    def apply(self, rule: bytes) -> None:
        """Apply one rule. Raises BadRule, and changes nothing then."""
        word, sign = rule.lower(), rule[:1]
        if word in (b"allkeys", b"~*"):
            self.keys.set_all(allow=True)
        elif word == b"resetkeys":
            self.keys.set_all(allow=False)
        elif word in (b"allchannels", b"&*"):
            self.channels.set_all(allow=True)
        elif word == b"resetchannels":
            self.channels.set_all(allow=False)
        elif word in (b"allcommands", b"+@all"):
            self.commands.set_all(allow=True)
        elif word in (b"nocommands", b"-@all"):
            self.commands.set_all(allow=False)
        elif sign in (b"~", b"%"):
            self.keys.add_pattern(rule)
        elif sign == b"&":
            self.channels.add_pattern(rule)
        elif sign in (b"+", b"-") and rule[1:2] == b"@":
            self.commands.change_category(rule[2:], allow=sign == b"+")
        elif sign in (b"+", b"-"):
            self.commands.change(rule[1:], allow=sign == b"+")
        else:
            raise BadRule(bad_rule.SYNTAX)

    def description(self) -> bytes:
        """The rules that make it, as ACL LIST shows them."""
        channels = self.channels.description()
        if not self.channels.are_full:
            channels = b"resetchannels " + channels
        parts = (self.keys.description(), channels.rstrip(), self.commands.description())
        return b" ".join(part for part in parts if part)
