"""A Part that is in ServerState.parts is told of each event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from server.client.client import Client
from server.config.parameters import Config
from server.observe.part import Part
from storage.keyspace.keyspace import Keyspace


class Listener(Part):
    """Records what it is told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def client_left(self, client: Client) -> None:
        self.heard.append(("left", client.id))

    def statistics_reset(self) -> None:
        self.heard.append("reset")

    def configured(self, config: Config) -> None:
        self.heard.append(("configured", config.maxclients))

    def emptying(self, databases: Sequence[Keyspace]) -> None:
        self.heard.append(("emptying", [(db.index, len(db)) for db in databases]))

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        self.heard.append(("emptied", [(db.index, len(db)) for db in databases]))


def test_a_part_is_told_that_a_client_left(server: Any) -> None:
    part = Listener()
    server.state.parts.append(part)
    guest = server.client()
    server.dismiss(guest.client)
    assert part.heard == [("left", guest.client.id)]


def test_a_part_is_told_of_resetstat(server: Any) -> None:
    part = Listener()
    server.state.parts.append(part)
    server.send_line("CONFIG RESETSTAT")
    assert part.heard == ["reset"]


def test_a_part_hears_that_parameters_are_set(server: Any) -> None:
    part = Listener()
    server.state.parts.append(part)
    server.send_line("CONFIG SET maxclients 77")
    assert part.heard == [("configured", 77)]


def test_a_part_is_told_before_and_after_databases_are_flushed_or_swapped(server: Any) -> None:
    part = Listener()
    server.state.parts.append(part)
    server.send_line("SET a 1")
    server.send_line("SWAPDB 0 1")
    server.send_line("SELECT 1")
    server.send_line("FLUSHDB")
    assert part.heard == [
        ("emptying", [(0, 1), (1, 0)]),
        ("emptied", [(0, 0), (1, 1)]),
        ("emptying", [(1, 1)]),
        ("emptied", [(1, 0)]),
    ]
