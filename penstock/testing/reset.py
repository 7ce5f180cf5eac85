"""Taking back what a test has left in the server, in one or two exchanges.

The first exchange ends a pause, empties the databases, and asks what else has happened. The server
counts the calls of each command; these say what there is to take back:

    CONFIG SET                      parameters get the values that they had
    ACL SETUSER, DELUSER, LOAD      users, too
    FUNCTION LOAD, RESTORE ...      functions are removed
    SCRIPT LOAD, EVAL ...           scripts are forgotten
    DEBUG ...                       clock and switches

Of the clients that came during the test, those are disconnected that could have an effect on the
next one: because they wait for a key, monitor, have subscribed, watch a key, or are in a
transaction. The others stay: a pool of connections may live as long as it likes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from penstock.testing.control import Control, Word, checked

Commands = list[Sequence[Word]]

PATIENCE_S = 2.0
"""A server that does not answer the first exchange for so long is not waited for."""

START_PATIENCE_S = 30.0
"""One that has just been started may have modules to load first, on a machine with much to do."""

# Counted again from here. The last command is one that tests rarely use: if it was not called,
# somebody else has reset the statistics, and they do not say what happened before.
COUNT_ANEW: Commands = [("CONFIG", "RESETSTAT"), ("LASTSAVE",)]
MARK = "lastsave"
FORGET_SLOW: Sequence[Word] = ("SLOWLOG", "RESET")

CALLED = re.compile(rb"^cmdstat_([^:]+):calls=[1-9]", re.MULTILINE)
CHANGES = re.compile(rb"^rdb_changes_since_last_save:(\d+)", re.MULTILINE)
CLIENT = re.compile(
    rb"^id=(?P<id>\d+) .*? flags=(?P<flags>\S+) .*? watch=(?P<watch>\d+) ", re.MULTILINE
)

BUSY = frozenset(b"bxPOd")  # blocked, in MULTI, subscribed, a monitor, watching what has changed

SETTING_CONFIG = frozenset({"config|set"})
SETTING_USERS = frozenset({"acl|setuser", "acl|deluser", "acl|load", "config|set"})
LOADING_FUNCTIONS = frozenset({"function|load", "function|restore", "function|delete"})
LOADING_SCRIPTS = frozenset({"eval", "eval_ro", "script|load"})
DEBUGGING = frozenset({"debug"})
FAILING_TO_LOG_IN = frozenset({"auth", "hello", *SETTING_USERS})
SAVING = frozenset({"save", "bgsave", "bgrewriteaof", "debug"})

SWITCHES: Commands = [
    ("DEBUG", "CLOCK", "RESET"),
    ("DEBUG", "PAUSE-CRON", "0"),
    ("DEBUG", "SET-ACTIVE-EXPIRE", "1"),
    ("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "0"),
    ("DEBUG", "AOF-FLUSH-SLEEP", "0"),
    ("DEBUG", "QUICKLIST-PACKED-THRESHOLD", "0"),
]


class Found(NamedTuple):
    """What the first exchange has told."""

    called: frozenset[str]
    knows_calls: bool
    changed_data: bool
    leftover: list[int]  # ids of clients

    def any_of(self, commands: frozenset[str]) -> bool:
        """Whether one of them was called, or may have been."""
        return not self.knows_calls or not commands.isdisjoint(self.called)


class Reset:
    """Takes a server back to how it was when remember() was called.

    *keeps_data*: do not empty the databases: the caller replaces them.
    """

    def __init__(self, control: Control, keeps_data: bool) -> None:
        self._control = control
        self._keeps_data = keeps_data
        self._newest_client = 0
        self._parameters: dict[bytes, bytes] = {}
        self._users: dict[str, list[str]] = {}

    def remember(self) -> None:
        """What parameters and users are now, is what they are set to again."""
        self._users = self._users_now(START_PATIENCE_S)
        self.remember_parameters()
        self._control.call_all(COUNT_ANEW, PATIENCE_S)
        self.begin()

    def remember_parameters(self) -> None:
        """What parameters are now, is what they are set to again."""
        self._parameters = self._parameters_now()

    def begin(self) -> None:
        """A test begins: the clients and slow commands that are there by now are not its own."""
        asked: Commands = [("CLIENT", "LIST"), FORGET_SLOW]
        listed, _ = checked(self._control.call_all(asked, PATIENCE_S))
        self._know(listed)

    def _know(self, clients: bytes) -> None:
        self._newest_client = max(int(found["id"]) for found in CLIENT.finditer(clients))

    def run(self) -> Found:
        """Take all back; what was found. Raises OSError or ServerError if the server is past it."""
        found = self._first_exchange()
        later = [*self._what_is_left(found)]
        if later:
            checked(self._control.call_all([*later, FORGET_SLOW], PATIENCE_S))
        return found

    def _first_exchange(self) -> Found:
        asked: Commands = [("CLIENT", "UNPAUSE"), ("INFO", "commandstats"), ("CLIENT", "LIST")]
        last = ("INFO", "persistence") if self._keeps_data else ("FLUSHALL", "SYNC")
        replies = checked(
            self._control.call_all([*asked, last, FORGET_SLOW, *COUNT_ANEW], PATIENCE_S)
        )
        found = self._found(*replies[1:4])
        self._know(replies[2])
        return found

    def _found(self, stats: bytes, clients: bytes, persistence: bytes) -> Found:
        called = frozenset(name.decode() for name in CALLED.findall(stats))
        changes = CHANGES.search(persistence)
        return Found(
            called,
            knows_calls=MARK in called,
            changed_data=changes is None or changes[1] != b"0",
            leftover=[int(c["id"]) for c in CLIENT.finditer(clients) if self._is_left(c)],
        )

    def _is_left(self, client: re.Match[bytes]) -> bool:
        is_busy = not BUSY.isdisjoint(client["flags"]) or client["watch"] != b"0"
        return is_busy and int(client["id"]) > self._newest_client

    # ------------------------------------------------------------------ the second exchange

    def _what_is_left(self, found: Found) -> Iterator[Sequence[Word]]:
        for number in found.leftover:
            yield ("CLIENT", "KILL", "ID", number)
        for commands, take_back in self._remedies():
            if found.any_of(commands):
                yield from take_back()

    def _remedies(self) -> list[tuple[frozenset[str], Callable[[], Any]]]:
        return [
            (SETTING_CONFIG, self._set_parameters),
            (SETTING_USERS, self._set_users),
            (FAILING_TO_LOG_IN, lambda: [("ACL", "LOG", "RESET")]),
            (LOADING_FUNCTIONS, lambda: [("FUNCTION", "FLUSH", "SYNC")]),
            (LOADING_SCRIPTS, lambda: [("SCRIPT", "FLUSH", "SYNC")]),
            (DEBUGGING, lambda: SWITCHES),
        ]

    def _set_parameters(self) -> Commands:
        words: list[Word] = []
        now = self._parameters_now()
        for name, value in self._parameters.items():
            if now.get(name) != value:
                words += [name, value]
        return [("CONFIG", "SET", *words), ("LATENCY", "RESET")] if words else []

    def _set_users(self) -> Commands:
        now = self._users_now()
        commands: Commands = [("ACL", "DELUSER", name) for name in now if name not in self._users]
        for name, rules in self._users.items():
            if now.get(name) != rules:
                commands.append(("ACL", "SETUSER", name, "reset", *rules))
        return commands

    def _parameters_now(self) -> dict[bytes, bytes]:
        flat = self._control.call("CONFIG", "GET", "*", timeout_s=PATIENCE_S)
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def _users_now(self, patience_s: float = PATIENCE_S) -> dict[str, list[str]]:
        lines = self._control.call("ACL", "LIST", timeout_s=patience_s)
        return dict(_user(line.decode("utf-8", "surrogateescape")) for line in lines)


def _user(line: str) -> tuple[str, list[str]]:
    """``user ann on ~a* (+get ~b*)`` as a name and its rules; a selector is one of them."""
    _, name, rules = line.split(" ", 2)
    return name, re.findall(r"\([^)]*\)|\S+", rules)
