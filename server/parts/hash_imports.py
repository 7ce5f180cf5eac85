"""The fieldsets that HIMPORT has prepared: each connection has its own, by their names."""

from __future__ import annotations

from collections.abc import Iterable

from server.client.client import Client
from server.observe.part import Part

Fieldsets = dict[bytes, list[bytes]]  # fields in their order


class HashImports(Part):
    """They last until their client discards them, resets its connection, or leaves.

    A run of a script has fieldsets of its own, which end with it.
    """

    def __init__(self) -> None:
        self._of_clients: dict[Client, Fieldsets] = {}
        self._run = 0
        self._of_run: Fieldsets = {}

    def of_client(self, client: Client) -> Fieldsets:
        """The fieldsets of *client*, to be changed."""
        return self._of_clients.setdefault(client, {})

    def of_run(self, run: int) -> Fieldsets:
        """Those of the run of a script that began at *run*."""
        if run != self._run:
            self._run, self._of_run = run, {}
        return self._of_run

    def client_left(self, client: Client) -> None:
        self._of_clients.pop(client, None)

    def client_reset(self, client: Client) -> None:
        self._of_clients.pop(client, None)


def among(parts: Iterable[Part]) -> HashImports:
    """The one that is among the *parts* of a server."""
    return next(part for part in parts if isinstance(part, HashImports))
