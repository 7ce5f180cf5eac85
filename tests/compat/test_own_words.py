"""What Penstock calls its own, in COMMAND DOCS and docs/commands.md, no Redis or Valkey has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

import server.commands  # noqa: F401  (fills the table)
from server.table.command import TABLE
from tests.compat.oracles import REDIS_8_6, VALKEY_9, Oracles


def tokens_in(arguments: list[dict[bytes, Any]]) -> Iterator[str]:
    for argument in arguments:
        if b"token" in argument:
            yield argument[b"token"].decode().upper()
        yield from tokens_in(argument.get(b"arguments", []))


def words_in(docs: dict[bytes, Any]) -> dict[str, set[str]]:
    """The words of each command and subcommand in a reply of COMMAND DOCS."""
    words = {}
    for name, row in docs.items():
        words[name.decode()] = set(tokens_in(row.get(b"arguments", [])))
        words |= words_in(row.get(b"subcommands", {}))
    return words


@pytest.mark.parametrize("name", [REDIS_8_6, VALKEY_9])
def test_no_other_server_has_them(oracles: Oracles, name: str) -> None:
    with Redis(port=oracles.start(name).port, protocol=3) as client:
        theirs = words_in(client.execute_command("COMMAND DOCS"))
    for row in TABLE.all_rows():
        assert not (row.since.startswith("0.") and row.name in theirs), row.name
        for own in row.own:
            assert theirs.get(row.name, set()).isdisjoint(own.words.split()), row.name
