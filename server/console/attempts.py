"""How often somebody may try to log in.

    of one address    5 attempts at once, then one after 1 s, 2 s, 4 s ... 60 s; forgotten after a
                      quarter of an hour without an attempt; those under a name also when
                      somebody logs in by it from there
    of all together   20 failures at once, and one more each second

The first defends users against who guesses their passwords, also if he can log in as somebody else
in between; the second, against who does so from many addresses, and the server against the work of
it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from ipaddress import IPv6Address, ip_address

FREE = 5
LONGEST_MS = 60_000
FORGOTTEN_MS = 15 * 60_000
MOST_ADDRESSES = 1000  # that are remembered; then the one that has tried longest ago is forgotten
MOST_AT_ONCE = 20
MS_A_FAILURE = 1000
MOST_NAMES = 20  # of an address that are told apart
OTHERS = 0  # stands for the names beyond these


class _Tries:
    """Those of one address that have failed, and when the next is allowed."""

    def __init__(self) -> None:
        self.failed: Counter[int] = Counter()  # by the hash of the name, which may be long
        self.next_ms = 0

    def place_of(self, name: bytes) -> int:
        """Where those under *name* are counted."""
        place = hash(name)
        is_known = place in self.failed or len(self.failed) < MOST_NAMES
        return place if is_known else OTHERS


class Attempts:
    """Attempts to log in. Times are monotonic ms."""

    def __init__(self) -> None:
        self._by_address: OrderedDict[str, _Tries] = OrderedDict()
        self._full_at_ms = 0  # when as many as ever may fail at once again

    def wait_ms(self, address: str, now_ms: int) -> int:
        """How long *address* has to wait before it may try; 0: it may now."""
        tries = self._by_address.get(_who(address))
        own_ms = 0 if tries is None else tries.next_ms - now_ms
        everybody_ms = self._full_at_ms - now_ms - (MOST_AT_ONCE - 1) * MS_A_FAILURE
        return max(0, own_ms, everybody_ms)

    def tried(self, address: str, name: bytes, now_ms: int) -> None:
        """*address* tries to be *name*. It counts as a failure until it has succeeded."""
        self._forget(now_ms)
        who = _who(address)
        tries = self._by_address.setdefault(who, _Tries())
        self._by_address.move_to_end(who)
        tries.failed[tries.place_of(name)] += 1
        over = tries.failed.total() - FREE
        tries.next_ms = now_ms + (min(1000 * 2 ** min(over, 10), LONGEST_MS) if over >= 0 else 0)
        self._full_at_ms = max(self._full_at_ms, now_ms) + MS_A_FAILURE

    def succeeded(self, address: str, name: bytes, now_ms: int) -> None:
        """*address* has logged in as *name*: it has not failed to, and may try again."""
        tries = self._by_address.get(_who(address))
        if tries is not None:
            place = tries.place_of(name)
            if place == OTHERS:
                tries.failed[place] -= 1
            else:
                del tries.failed[place]
            tries.next_ms = now_ms
        self._full_at_ms -= MS_A_FAILURE

    def _forget(self, now_ms: int) -> None:
        """Let go of those that have not tried for long, and of too many."""
        while self._by_address:
            who, tries = next(iter(self._by_address.items()))
            if len(self._by_address) < MOST_ADDRESSES and now_ms - tries.next_ms < FORGOTTEN_MS:
                return
            del self._by_address[who]


def _who(address: str) -> str:
    """The host of *address*; of IPv6 the network, in which one host may have any address."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return found.exploded[:19]  # 64 bits
    return host
