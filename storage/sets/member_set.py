# cython: boundscheck=False, wraparound=False
"""A set of byte strings, in the most compact of three encodings that may hold its members.

    intset      bytes          few members, all integers: storage/sets/intset.py
    listpack    Listpack       few members, none of them long
    hashtable   PackedTable    all others: each member is a key with an empty value

A set is an intset or a listpack at first. When a member is added that its encoding must not hold,
it is converted, and never back. SetLimits says what each encoding may hold.

Source of the rules: t_set.c of Redis 7.2
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from storage import allocation, octets
from storage.chance import Chance
from storage.hash_table.packed_table import PackedTable
from storage.limits import SetLimits
from storage.listpack.listpack import Listpack
from storage.sets import intset
from storage.sets.member_walk import MemberWalk

Members: TypeAlias = bytes | Listpack | PackedTable

EMPTY = intset.EMPTY
OBJECT = 32  # bytes, compiled
NONE = -1
NOTHING = b""  # the value of a member in the table
MOST_NUMBERS = 1 << 30  # in an intset
SAFE_SIZE = (1 << 30) - 64  # bytes of a listpack to which a short member can be added
FEW_LEFT = 3  # a sample of more than a third is drawn from a list of all members


class MemberSet:
    """Different byte strings, in no order; those of an intset are in ascending order.

    N is the number of members. What looks for a member is O(log N) in an intset, O(N) in a listpack
    (both have few members), and O(1) in a hashtable.
    """

    __slots__ = ("members",)

    def __init__(self) -> None:
        self.members: Members = EMPTY
        allocation.used += OBJECT + allocation.of_bytes(EMPTY)

    def __del__(self) -> None:
        allocation.used -= OBJECT
        if isinstance(self.members, bytes):
            allocation.used -= allocation.of_bytes(self.members)

    def __len__(self) -> int:
        return self.size()

    def __contains__(self, member: bytes) -> bool:
        return self.has(member)

    def __iter__(self) -> Iterator[bytes]:
        """All members. The set must not change meanwhile."""
        walk = self.walk()
        while walk.next():
            yield walk.value()

    def size(self) -> int:
        """How many members there are. O(1)."""
        members = self.members
        if isinstance(members, bytes):
            return intset.length(members)
        if isinstance(members, Listpack):
            pack = members
            return pack.length()
        table = members
        return table.used

    @property
    def encoding(self) -> bytes:
        """The answer of OBJECT ENCODING."""
        if isinstance(self.members, bytes):
            return b"intset"
        return b"listpack" if isinstance(self.members, Listpack) else b"hashtable"

    def walk(self) -> MemberWalk:
        """A walk over all members. O(1). The set must not change meanwhile."""
        return MemberWalk(self.members)

    def has(self, member: bytes) -> bool:
        """Whether *member* is in the set."""
        members = self.members
        if isinstance(members, PackedTable):
            table = members
            return table.has(member)
        if isinstance(members, Listpack):
            return _find(members, member) != NONE
        return octets.is_int64(member) and intset.find(members, octets.int64_of(member)) >= 0

    # ------------------------------------------------------------------ adding

    def expect(self, first: bytes, count: int, limits: SetLimits) -> None:
        """Choose the encoding in which *count* members are going to be added, *first* before all.

        So a set that becomes large is not converted on the way. O(N) if it has members.
        """
        if self.size():
            members = self.members
            if (isinstance(members, bytes) and count > limits.intset_entries) or (
                isinstance(members, Listpack) and count > limits.listpack_entries
            ):
                self.become_table()
        elif octets.is_int64(first) and count <= limits.intset_entries:
            self._become(EMPTY)
        elif count <= limits.listpack_entries:
            self._become(Listpack())
        else:
            self._become(PackedTable())

    def add(self, member: bytes, limits: SetLimits) -> bool:
        """Add *member*. False if it is in the set already."""
        members = self.members
        if isinstance(members, PackedTable):
            table = members
            return table.set(member, NOTHING)
        if isinstance(members, Listpack):
            return self._add_to_listpack(members, member, limits)
        return self._add_to_intset(members, member, limits)

    def _add_to_intset(self, numbers: bytes, member: bytes, limits: SetLimits) -> bool:
        if not octets.is_int64(member):
            if self._fits_listpack(numbers, member, limits):
                self._become(_listpack_of(numbers))
            else:
                self.become_table()
            return self.add(member, limits)
        number = octets.int64_of(member)
        index = intset.find(numbers, number)
        if index >= 0:
            return False
        self._become(intset.inserted(numbers, -1 - index, number))
        count = self.size()
        if count > limits.intset_entries or count > MOST_NUMBERS:
            self.become_table()
        return True

    def _fits_listpack(self, numbers: bytes, member: bytes, limits: SetLimits) -> bool:
        """Whether a listpack may hold the intset *numbers* and *member*, no integer."""
        count = intset.length(numbers)
        longest = len(member)
        if count:
            for number in (intset.get(numbers, 0), intset.get(numbers, count - 1)):
                longest = max(longest, len(octets.decimal(number)))
        return count < limits.listpack_entries and longest <= limits.listpack_value

    def _add_to_listpack(self, pack: Listpack, member: bytes, limits: SetLimits) -> bool:
        if _find(pack, member) != NONE:
            return False
        if (
            pack.length() < limits.listpack_entries
            and len(member) <= limits.listpack_value
            and pack.size + len(member) <= SAFE_SIZE
        ):
            pack.append(member)
            return True
        return self.become_table().set(member, NOTHING)

    def _become(self, members: Members) -> None:
        """Put *members* in place of what there is."""
        if isinstance(self.members, bytes):
            allocation.used -= allocation.of_bytes(self.members)
        if isinstance(members, bytes):
            allocation.used += allocation.of_bytes(members)
        self.members = members

    def become_table(self) -> PackedTable:
        """Convert the set to a hashtable, which is returned. O(N)."""
        table = PackedTable()
        walk = self.walk()
        while walk.next():
            table.set(walk.value(), NOTHING)
        self._become(table)
        return table

    # ------------------------------------------------------------------ removing

    def remove(self, member: bytes) -> bool:
        """Remove *member*. False if it is not in the set."""
        members = self.members
        if isinstance(members, PackedTable):
            table = members
            return table.discard(member)
        if isinstance(members, Listpack):
            pack = members
            at = _find(pack, member)
            if at == NONE:
                return False
            pack.delete(at)
            return True
        index = -1
        if octets.is_int64(member):
            index = intset.find(members, octets.int64_of(member))
        if index < 0:
            return False
        self._become(intset.without(members, index))
        return True

    def pop(self, chance: Chance) -> bytes:
        """Remove a member drawn at random, and return it; there must be one."""
        members = self.members
        if isinstance(members, PackedTable):
            table = members
            return table.pop_random(chance)
        member = self.random_member(chance)
        self.remove(member)
        return member

    # ------------------------------------------------------------------ at random

    def random_member(self, chance: Chance) -> bytes:
        """A member drawn at random, each equally likely; there must be one."""
        members = self.members
        if isinstance(members, bytes):
            return octets.decimal(intset.get(members, chance.below(intset.length(members))))
        if isinstance(members, Listpack):
            pack = members
            return pack.get_bytes(pack.seek(chance.below(pack.length())))
        table = members
        member = table.random_key(chance)
        assert member is not None
        return member

    def sample(self, chance: Chance, count: int) -> list[bytes]:
        """*count* different members drawn at random; there must be as many. O(count) expected.

        1. If they are more than a third, or the set is compact: the first of all members, shuffled.
        2. Otherwise members are drawn until they are enough; few are drawn twice.
        """
        if count * FEW_LEFT > self.size() or not isinstance(self.members, PackedTable):  # 1
            all_members = list(self)
            for at in range(count):
                other = at + chance.below(len(all_members) - at)
                all_members[at], all_members[other] = all_members[other], all_members[at]
            return all_members[:count]
        drawn: dict[bytes, None] = {}  # 2
        while len(drawn) < count:
            drawn[self.random_member(chance)] = None
        return list(drawn)

    def draws(self, chance: Chance, count: int) -> Iterator[bytes]:
        """*count* members drawn at random, one independent of the other; there must be one."""
        if isinstance(self.members, PackedTable):
            for _ in range(count):
                yield self.random_member(chance)
        else:
            all_members = list(self)
            for _ in range(count):
                yield all_members[chance.below(len(all_members))]

    # ------------------------------------------------------------------ as a whole

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """A page of about *count* members from *cursor* on, and the cursor of the next page.

        Cursor 0 starts, and 0 comes back with the last page. A compact set is one page, whatever
        the cursor: so a member that is there all the time is returned if the set is converted
        meanwhile, too.
        """
        if isinstance(self.members, PackedTable):
            return self.members.scan(cursor, count)
        return 0, list(self)

    def copy(self) -> MemberSet:
        """Another set of the same members. O(N)."""
        members = self.members
        return of_members(members if isinstance(members, bytes) else members.copy())


def of_members(members: Members) -> MemberSet:
    """The set that consists of *members*, and owns them from now on.

    An intset or a listpack from outside must have been checked before.
    """
    made = MemberSet.__new__(MemberSet)
    made.members = members
    allocation.used += OBJECT
    if isinstance(members, bytes):
        allocation.used += allocation.of_bytes(members)
    return made


def _find(pack: Listpack, member: bytes) -> int:
    """The position of *member* in *pack*, or -1. O(N)."""
    at = pack.first()
    while at != NONE:
        if pack.matches(at, member):
            return at
        at = pack.next(at)
    return NONE


def _listpack_of(numbers: bytes) -> Listpack:
    """A listpack of the intset *numbers*. O(N)."""
    pack = Listpack()
    for index in range(intset.length(numbers)):
        pack.append_int(intset.get(numbers, index))
    return pack
