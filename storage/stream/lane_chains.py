"""Chains of the items of a LaneTable: the plain versions of the C functions in lane_chains.pxd.

    chains      [fay]   []   [bob]   [dan]      what is first in each
                  |
                 ann                            each item has the next one, or END

A chain keeps its items alive. Compiled, it is a bare pointer, chains are a block of them, and no
function checks how many there are: callers do. An item is a Lane, or the LanePending that is the
only entry of its lane; it may be in one chain only.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from storage.stream.lane import Lane
from storage.stream.pending import LanePending

END = object()  # what the last item has after it; one that is in no chain has None

Item: TypeAlias = Any  # a Lane, or a LanePending
Chains: TypeAlias = list[Any]


def none() -> Chains:
    """A block of no chains."""
    return []


def resized(chains: Chains, size: int) -> Chains:
    """The block with room for *size* chains; new ones are undefined.

    Raises MemoryError: then the block is as it was.
    """
    return [*chains[:size], *[None] * (size - len(chains))]


def free(_chains: Chains) -> None:
    """Give the block back; its chains must be empty."""


def begin(chains: Chains, chain: int) -> None:
    """Let a chain be empty that is undefined."""
    chains[chain] = END


def number_of(item: Item) -> int:
    """The number of an item."""
    number: int = item.lane if type(item) is LanePending else item.number
    return number


def find(chains: Chains, chain: int, number: int) -> Item:
    """The item of that number in a chain; or None."""
    item = chains[chain]
    while item is not END and number_of(item) != number:
        item = item.in_chain
    return None if item is END else item


def has(chains: Chains, chain: int, number: int) -> bool:
    """Whether a chain has an item of that number."""
    return find(chains, chain, number) is not None


def put(chains: Chains, chain: int, item: Item) -> None:
    """Let *item* be the first of a chain. Raises ValueError if it is in one already."""
    if not isinstance(item, (LanePending, Lane)) or item.in_chain is not None:
        raise ValueError("this item cannot be put into a chain")
    item.in_chain = chains[chain]
    chains[chain] = item


def take(chains: Chains, chain: int, item: Item) -> bool:
    """Take *item* out of a chain. False if it is not in it."""
    held = chains[chain]
    if held is item:
        chains[chain] = item.in_chain
    else:
        while held is not END and held.in_chain is not item:
            held = held.in_chain
        if held is END:
            return False
        held.in_chain = item.in_chain
    item.in_chain = None
    return True


def first(chains: Chains, chain: int) -> Item:
    """The first item of a chain; or None."""
    return None if chains[chain] is END else chains[chain]


def list_all(chains: Chains, chain: int, found: list[Item]) -> None:
    """Append all items of a chain to *found*."""
    item = chains[chain]
    while item is not END:
        found.append(item)
        item = item.in_chain


def move(chains: Chains, chain: int, other: int, bit: int) -> None:
    """Put those items of a chain whose numbers have that bit into the *other* one."""
    item = chains[chain]
    chains[chain] = END
    while item is not END:
        following = item.in_chain
        to = other if number_of(item) & bit else chain
        item.in_chain = chains[to]
        chains[to] = item
        item = following
