"""The fieldsets that HIMPORT has prepared: each connection has its own, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client
from server.observe.memory import Memory
from server.observe.part import Part

FIELDSET_BYTES = 300  # of a fieldset without its words
WORD_BYTES = 45  # of a word without its bytes


class Prepared:
    """What all clients have prepared and not discarded."""

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0


class Fieldsets:
    """Fields in their order, by the name of the fieldset. They count as memory of *client*."""

    def __init__(self, memory: Memory, prepared: Prepared, client: Client | None = None) -> None:
        self._memory = memory
        self._prepared = prepared
        self._client = client
        self._by_name: dict[bytes, Sequence[bytes]] = {}

    def prepare(self, name: bytes, fields: Sequence[bytes]) -> None:
        """Call these *fields* by *name*, which may have stood for others. O(N)."""
        self.discard(name)
        self._by_name[name] = fields
        self._count(1, _size(name, fields))

    def find(self, name: bytes) -> Sequence[bytes] | None:
        """The fields of that name."""
        return self._by_name.get(name)

    def discard(self, name: bytes) -> bool:
        """Forget the fieldset of that name. Returns whether there was one. O(N)."""
        fields = self._by_name.pop(name, None)
        if fields is not None:
            self._count(-1, -_size(name, fields))
        return fields is not None

    def clear(self) -> int:
        """Forget all; return how many there were. O(N)."""
        names = list(self._by_name)
        for name in names:
            self.discard(name)
        return len(names)

    def _count(self, number: int, size: int) -> None:
        if self._client is not None:
            self._prepared.count += number
            self._prepared.bytes += size
            self._memory.hold(self._client, size)


def _size(name: bytes, fields: Sequence[bytes]) -> int:
    """About how many bytes a fieldset takes."""
    words = len(fields) + 1
    return FIELDSET_BYTES + words * WORD_BYTES + len(name) + sum(map(len, fields))


class HashImports(Part):
    """They last until their client discards them, resets its connection, or leaves.

    A run of a script has fieldsets of its own, which end with it.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.prepared = Prepared()  # but not by scripts
        self._of_clients: dict[Client, Fieldsets] = {}
        self._run = 0
        self._of_run = Fieldsets(memory, self.prepared)

    def of_client(self, client: Client) -> Fieldsets:
        """The fieldsets of *client*."""
        fieldsets = self._of_clients.get(client)
        if fieldsets is None:
            fieldsets = self._of_clients[client] = Fieldsets(self._memory, self.prepared, client)
        return fieldsets

    def of_run(self, run: int) -> Fieldsets:
        """Those of the run of a script that began at *run*."""
        if run != self._run:
            self._run, self._of_run = run, Fieldsets(self._memory, self.prepared)
        return self._of_run

    def client_left(self, client: Client) -> None:
        self.client_reset(client)

    def client_reset(self, client: Client) -> None:
        fieldsets = self._of_clients.pop(client, None)
        if fieldsets is not None:
            fieldsets.clear()
