"""Declarations, and the table that they fill."""

from __future__ import annotations

from typing import Any

import pytest

import server.commands  # noqa: F401  (fills the table)
from server.table.command import TABLE, Command, CommandTable, Flags, command
from server.table.keys import ACCESS, DELETE, INSERT, OW, RW, UPDATE


def declared(name: str, **declaration: Any) -> Command:
    facts: dict[str, Any] = {"arity": -1, "flags": Flags(0), "group": "generic", "since": "1.0.0"}
    return Command(name, **{**facts, **declaration})


def test_a_docstring_gives_summary_and_syntax() -> None:
    def handler() -> None:
        """Does it,
        over two lines.

        X key
        [more]

        The rest is for readers.
        """

    row = declared("X")
    row.attach(handler)
    assert (row.summary, row.syntax) == ("Does it, over two lines.", "X key [more]")
    assert row.handler is handler


@pytest.mark.parametrize(
    ("name", "place"), [(b"get", 1), (b"mset", 1), (b"ping", 1), (b"evalsha", 3), (b"zunion", 2)]
)
def test_the_first_key_stands_where_the_specs_say_or_most_likely_does(
    name: bytes, place: int
) -> None:
    row = TABLE.find(name)
    assert row is not None
    assert row.first_key_at == place


def test_a_name_cannot_be_declared_twice() -> None:
    table = CommandTable()
    table.container("X", group="generic", since="1.0.0", summary="Has parts.")
    table.add(declared("X ONE"))
    with pytest.raises(ValueError, match=r"x\|one is declared twice"):
        table.add(declared("X ONE"))
    assert list(table.find(b"x").subcommands) == [b"one"]  # type: ignore[union-attr]


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="complexitiy"):
        command("X", arity=1, flags=Flags(0), group="generic", since="1", complexitiy="")  # type: ignore[call-arg]
    assert TABLE.find(b"x") is None


def test_the_group_is_an_acl_category_unless_others_are_declared() -> None:
    assert declared("X", group="list").acl == {"list", "slow"}
    assert declared("X", group="list", categories=["dangerous"]).acl == {"dangerous", "slow"}
    assert declared("X", group="server").acl == {"slow"}
    assert declared("X", flags=Flags.FAST | Flags.WRITE).acl == {"keyspace", "write", "fast"}


@pytest.mark.parametrize(
    ("line", "uses"),
    [
        ("PING", []),
        ("LMOVE a b LEFT RIGHT", [(b"a", RW | ACCESS | DELETE), (b"b", RW | INSERT)]),
        ("DEL a a", [(b"a", None), (b"a", None)]),
        ("SET a b", [(b"a", OW | UPDATE)]),
        ("SET a b EX 1 get", [(b"a", RW | ACCESS | UPDATE)]),
        ("SET a GET", [(b"a", OW | UPDATE)]),
    ],
)
def test_keys_of_argv_come_with_their_flags(line: str, uses: list[tuple[bytes, Any]]) -> None:
    argv = line.encode().split()
    row = TABLE.find(argv[0])
    assert row is not None
    found = row.keys_of(argv)
    assert [use.key for use in found] == [key for key, _ in uses]
    assert all(flags in (None, use.flags) for use, (_, flags) in zip(found, uses, strict=True))
