"""Words of a command that neither Redis nor Valkey knows are declared as Penstock's own.

known_words.txt has the commands of both that are served here, each with its words: those of COMMAND
DOCS of Redis 8.6.3 and Valkey 9.1.2, and of the documentation of Redis 8.8 and 8.10.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import server.commands  # noqa: F401  (fills the table)
from server.commands.admin.debug import ACTIONS
from server.table.command import TABLE, Command
from server.table.syntax import arguments_of, walk

KNOWN = Path(__file__).with_name("known_words.txt")


@cache
def known_words() -> dict[str, set[str]]:
    """The words of each command that is not Penstock's own."""
    known: dict[str, set[str]] = {}
    for line in KNOWN.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, _, words = line.partition(":")
            known.setdefault(name, set()).update(words.split())
    return known


def words_of(row: Command) -> set[str]:
    """The words in the syntax of *row*, without such as ``*``; of DEBUG the subcommands."""
    if row.name == "debug":
        return {action.decode() for action in ACTIONS}
    arguments = arguments_of(row.syntax, row.name) if row.syntax else []
    return {argument.token for argument in walk(arguments) if argument.token.lower().islower()}


def own_words_of(row: Command) -> set[str]:
    return {word for own in row.own for word in own.words.split()}


SHARED = [row for row in TABLE.all_rows() if row.name in known_words() and row.name != "debug"]


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.name)
def test_a_word_that_others_do_not_know_is_declared(row: Command) -> None:
    assert words_of(row) - known_words()[row.name] == own_words_of(row)


def test_a_declared_word_is_one_of_the_command() -> None:
    for row in TABLE.all_rows():
        assert own_words_of(row) <= words_of(row), row.name


def test_a_command_that_others_do_not_have_is_since_a_version_of_penstock() -> None:
    """No version of Redis begins with 0."""
    for row in TABLE.all_rows():
        assert row.since.startswith("0.") == (row.name not in known_words()), row.name
        assert not (row.since.startswith("0.") and row.own), row.name
