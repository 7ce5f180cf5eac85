"""A user: whether it may log in, how, and what it may do then.

    user ann on sanitize-payload #2bb80d53... ~jobs:* resetchannels -@all +@stream (%R~* +get)

A rule is applied to a user at once; ACL SETUSER applies its rules to a copy, which takes the user's
place if all of them are good.
"""

from __future__ import annotations

from itertools import count

from server.table.command import Command
from server.table.keys import READ, KeyUse
from server.users import bad_rule
from server.users.bad_rule import BadRule
from server.users.denial import Denial
from server.users.passwords import Passwords, hash_of
from server.users.selector import Selector

BLANK = b" "
_versions = count(1)  # of all users, so that no two have the same


class User:
    """Begins disabled, without a password and without rights.

    *all_channels* says whether a selector that begins has the rights on all channels:
    acl-pubsub-default. *version* is another number as soon as it may do other things than before.
    """

    __slots__ = ("is_on", "name", "passwords", "sanitizes", "selectors", "version")

    def __init__(self, name: bytes, all_channels: bool = False) -> None:
        self.name = name
        self.version = next(_versions)
        self.is_on = False
        self.sanitizes = True  # what RESTORE gets is checked, as it always is here
        self.passwords = Passwords()
        self.selectors = [Selector(all_channels)]

    def copy(self) -> User:
        other = User(self.name)
        other.become(self)
        return other

    def become(self, other: User) -> None:
        """Copy everything of *other* but its name."""
        self.version = next(_versions)
        self.is_on = other.is_on
        self.sanitizes = other.sanitizes
        self.passwords = other.passwords.copy()
        self.selectors = [selector.copy() for selector in other.selectors]

    # ------------------------------------------------------------------ what is allowed

    @property
    def may_do_everything(self) -> bool:
        """Whether its commands need no check."""
        return any(selector.is_full for selector in self.selectors)

    def accepts(self, password: bytes) -> bool:
        """Whether *password* logs the user in."""
        fits = self.passwords.accept(password)  # first, so that a user that is off takes as long
        return fits and self.is_on

    def denial(
        self, command: Command, argv: list[bytes], more: list[KeyUse] | None = None
    ) -> Denial | None:
        """Why the user may not run *argv*, a call of *command*; None if it may.

        *more* are keys that it uses and no word of it names. One selector must allow all. Of
        several, the one that got furthest counts. O(selectors * keys * patterns).
        """
        first = self.selectors[0]
        if more is None and first.allows(command, argv):
            return None
        asks_keys = not first.keys.are_full or len(self.selectors) > 1
        uses: list[KeyUse] = command.keys_of(argv) if asks_keys else []
        if more is not None:
            uses = uses + more
        worst: Denial | None = None
        for selector in self.selectors:
            found = selector.denial(command, argv, uses)
            if found is None:
                return None
            if worst is None or found[:2] > worst[:2]:
                worst = found
        return worst

    def may_call(self, command: Command, argv: list[bytes]) -> bool:
        """Whether the user may run *command* at all, whatever *argv* holds. O(selectors)."""
        return any(selector.commands.allow(command, argv) for selector in self.selectors)

    def may_use(self, command: Command, argv: list[bytes], key: bytes, rights: int) -> bool:
        """Whether one selector allows *argv*, a call of *command*, and gives *rights* on *key*."""
        for selector in self.selectors:
            if selector.commands.allow(command, argv) and selector.keys.allow(key, rights):
                return True
        return False

    def may_read(self, key: bytes) -> bool:
        """Whether any selector gives the right to read *key*."""
        return any(selector.keys.allow(key, READ) for selector in self.selectors)

    def may_read_all_keys(self, command: Command, argv: list[bytes]) -> bool:
        """Whether one selector allows *argv*, a call of *command*, and to read whatever keys."""
        return any(
            selector.commands.allow(command, argv) and selector.keys.allow_all(READ)
            for selector in self.selectors
        )

    def may_hear(self, channel: bytes, is_pattern: bool) -> bool:
        """Whether any selector allows to be subscribed to *channel*."""
        return any(selector.channels.allow(channel, is_pattern) for selector in self.selectors)

    # ------------------------------------------------------------------ rules

    def apply(self, rule: bytes, all_channels: bool = False) -> None:
        """Apply one rule; *all_channels*: as at the start. Raises BadRule.

        What a bad rule has changed by then stays: apply rules to a copy.
        """
        word, sign = rule.lower(), rule[:1]
        if word in (b"on", b"off"):
            self.is_on = word == b"on"
        elif word in (b"sanitize-payload", b"skip-sanitize-payload"):
            self.sanitizes = word == b"sanitize-payload"
        elif word == b"nopass":
            self.passwords.forget_all(none_needed=True)
        elif word == b"resetpass":
            self.passwords.forget_all(none_needed=False)
        elif sign in (b">", b"#"):
            self.passwords.add_hash(hash_of(rule[1:]) if sign == b">" else rule[1:])
        elif sign in (b"<", b"!"):
            self.passwords.remove_hash(hash_of(rule[1:]) if sign == b"<" else rule[1:])
        elif word == b"reset":
            self.become(User(self.name, all_channels))
        elif word == b"clearselectors":
            del self.selectors[1:]
        elif sign == b"(" and rule[-1:] == b")":
            selector = Selector(all_channels)
            for inner in rule[1:-1].split(BLANK):
                if inner:
                    selector.apply(inner)
            self.selectors.append(selector)
        elif rule:
            self.selectors[0].apply(rule)

    # ------------------------------------------------------------------ how it is shown

    def flags(self) -> list[bytes]:
        """The words that say how it logs in."""
        flags = [b"on" if self.is_on else b"off"]
        if self.passwords.none_needed:
            flags.append(b"nopass")
        return [*flags, b"sanitize-payload" if self.sanitizes else b"skip-sanitize-payload"]

    def description(self) -> bytes:
        """The rules that make the user of a new one, as ACL LIST shows them."""
        first, *others = (selector.description() for selector in self.selectors)
        hashes = [b"#" + hash_ for hash_ in self.passwords.hashes]
        return b" ".join([*self.flags(), *hashes, first, *(b"(%b)" % text for text in others)])


def joined_rules(words: list[bytes]) -> list[bytes]:
    """*words*, with those between parentheses joined to one rule. Raises UnmatchedParenthesis.

    on (+get ~a) (~b)   ->   on, "(+get ~a)", "(~b)"
    """
    rules: list[bytes] = []
    opened: list[bytes] = []
    for word in words:
        if opened or (word[:1] == b"(" and word[-1:] != b")"):
            opened.append(word)
            if word[-1:] == b")":
                rules.append(BLANK.join(opened))
                opened = []
        else:
            rules.append(word)
    if opened:
        raise UnmatchedParenthesis(opened[0])
    return rules


class UnmatchedParenthesis(BadRule):
    """A selector is not closed; *start* is the word that opens it."""

    def __init__(self, start: bytes) -> None:
        super().__init__(bad_rule.SYNTAX)
        self.start = start


def user_with_all_rights(name: bytes) -> User:
    """A user who needs no password and may do everything: the default user, at first."""
    user = User(name, all_channels=True)
    for rule in (b"+@all", b"~*", b"on", b"nopass"):
        user.apply(rule)
    return user
