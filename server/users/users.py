"""All users, by name. There always is the default user: a client that has not logged in is it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from server.users.bad_rule import BadRule
from server.users.user import User, user_with_all_rights

DEFAULT = b"default"


class BadUserRule(Exception):
    """*rule* of a user's description is bad; *error* says why."""

    def __init__(self, rule: bytes, error: BadRule) -> None:
        super().__init__(str(error))
        self.rule = rule
        self.error = error


class Users:
    """The registry. *all_channels* is acl-pubsub-default: what new selectors begin with.

    The object of a user stays the same as long as there is a user of its name.
    """

    __slots__ = ("_by_name", "all_channels", "default")

    def __init__(self) -> None:
        self.all_channels = False
        self.default = user_with_all_rights(DEFAULT)
        self._by_name = {DEFAULT: self.default}

    def __iter__(self) -> Iterator[User]:
        """All users, in the order of the bytes of their names."""
        return (user for _, user in sorted(self._by_name.items()))

    def named(self, name: bytes) -> User | None:
        return self._by_name.get(name)

    def proposed(self, name: bytes, rules: Iterable[bytes]) -> User:
        """What the user *name*, new or not, would be with *rules*; the users stay as they are.

        Raises BadUserRule.
        """
        present = self._by_name.get(name)
        user = User(name, self.all_channels) if present is None else present.copy()
        for rule in rules:
            try:
                user.apply(rule, self.all_channels)
            except BadRule as error:
                raise BadUserRule(rule, error) from None
        return user

    def accept(self, proposed: User) -> User:
        """Let *proposed* be the user of its name from now on. Returns the user."""
        user = self._by_name.setdefault(proposed.name, proposed)
        if user is not proposed:
            user.become(proposed)
        return user

    def remove(self, name: bytes) -> User | None:
        """Remove the user *name*, never the default one; that user, or None if there was none."""
        return self._by_name.pop(name, None)

    def replace_all(self, proposed: Iterable[User]) -> list[User]:
        """Let *proposed* be all the users; a default user that is missing starts over.

        Returns the users that were removed.
        """
        wanted = {user.name: user for user in proposed}
        wanted.setdefault(DEFAULT, user_with_all_rights(DEFAULT))
        gone = [user for name, user in self._by_name.items() if name not in wanted]
        for user in gone:
            del self._by_name[user.name]
        for user in wanted.values():
            self.accept(user)
        return gone

    def set_default_password(self, password: bytes) -> None:
        """requirepass: the one password of the default user; none if it is empty."""
        self.default.passwords.forget_all(none_needed=True)
        if password:
            self.default.passwords.forget_all(none_needed=False)
            self.default.apply(b">" + password)

    def lines(self) -> list[bytes]:
        """The users as a file has them: ``user ann on ...``."""
        return [b"user %b %b" % (user.name, user.description()) for user in self]
