"""Key slots of a cluster: which slot a key is in, and which nodes have the slot."""

from __future__ import annotations

from binascii import crc_hqx
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyspark_penstock.connect.address import Address

SLOTS = 16_384
UNKNOWN = "?"  # a node that announces hostnames, and has none
LONGEST_HOST = 255


class Owner(NamedTuple):
    """The nodes that have a range of slots."""

    primary: Address
    replicas: tuple[Address, ...] = ()


def key_slot(key: bytes) -> int:
    """The slot of *key*: that of what is between the first ``{`` and the next ``}``, if anything
    is.
    """
    start = key.find(b"{") + 1
    end = key.find(b"}", start) if start else -1
    if end > start:
        key = key[start:end]
    return crc_hqx(key, 0) % SLOTS


class SlotMap:
    """Who has which slot, as one node has said."""

    def __init__(self, reply: Any, asked: Address) -> None:
        self._owners: list[Owner | None] = [None] * SLOTS
        self._all: dict[Owner, None] = {}
        for first, last, *nodes in reply:
            at = [place for node in nodes if (place := announced(node, asked))]
            if at and 0 <= first <= last < SLOTS:
                owner = Owner(at[0], tuple(at[1:]))
                self._owners[first : last + 1] = [owner] * (last + 1 - first)
                self._all[owner] = None

    @classmethod
    def of_one(cls, address: Address) -> SlotMap:
        """The map of a server that is no cluster: it has all slots."""
        return cls([(0, SLOTS - 1, (address[0].encode(), address[1]))], address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlotMap) and self._owners == other._owners

    __hash__ = None  # type: ignore[assignment]  # a map changes

    def owner(self, slot: int) -> Owner | None:
        """Who has the slot; None if nobody has."""
        return self._owners[slot]

    def move(self, slot: int, primary: Address) -> None:
        """The slot has moved to another primary, whose replicas are not known yet."""
        owner = Owner(primary)
        self._owners[slot] = owner
        self._all[owner] = None

    @property
    def primaries(self) -> list[Address]:
        """All nodes that have slots, or had until one moved."""
        return list(dict.fromkeys(owner.primary for owner in self._all))

    def nodes(self) -> Iterator[Address]:
        """All nodes: primaries, then replicas."""
        yield from self.primaries
        yield from dict.fromkeys(at for owner in self._all for at in owner.replicas)


def announced(node: Any, asked: Address) -> Address | None:
    """The address in a node's entry; None if it has none.

    A node without a host is at the host that was asked.
    """
    host, port = node[0], node[1]
    if host == UNKNOWN.encode():
        details = node[3] if len(node) > 3 else []  # names and values
        host = dict(zip(details[::2], details[1::2], strict=False)).get(b"ip")
        if not host:
            return None
    return place(host or b"", port, asked)


def place(host: bytes, port: int, asked: Address) -> Address | None:
    """A host and a port that a server names, as an address; None if they cannot be one."""
    name = host.decode("ascii", "replace")
    if not 0 < port < 65_536 or len(name) > LONGEST_HOST or not name.isprintable() or " " in name:
        return None
    return name or asked[0], port
