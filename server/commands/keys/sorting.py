"""SORT and SORT_RO: the elements of a list, set or sorted set in another order, or others for them.

    BY weight_*       the string at the key that the element makes of the pattern is compared
    BY h_*->field     a field of the hash at such a key is
    BY nosort         a pattern without * : nothing is compared, and the order stays. A set has
                      none: for STORE, and in a script, its members are sorted as texts
    GET #             the element itself is answered; other patterns are as with BY

Source of the rules: sort.c of Redis 7.0
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.client.client import RESTRICTED
from server.client.origin import SCRIPT
from server.commands.keys import sort_order
from server.commands.keys.sort_order import Pattern
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import ACCESS, OW, RO, UPDATE, KeyRange, KeyUse, UnknownKeys
from storage.errors import WrongType
from storage.keyspace.key_lookups import ANY
from storage.lists.quicklist import QuickList
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet

SOURCE = KeyRange(RO | ACCESS)
LOOKED_UP = UnknownKeys(RO | ACCESS)  # by BY and GET: their names depend on the elements
VALUES = {b"LIMIT": 2, b"GET": 1, b"BY": 1, b"STORE": 1}  # words that an option takes along
OF_SORTS = "O(N+M*log(M)) where N is the number of elements and M the number of those returned."


def _keys_of_sort(argv: list[bytes]) -> list[KeyUse]:
    """The key that is sorted, and the one after the last STORE."""
    found = [KeyUse(argv[1], RO | ACCESS)]
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        if word == b"STORE" and at + 1 < len(argv):
            found[1:] = [KeyUse(argv[at + 1], OW | UPDATE)]
        at += 1 + VALUES.get(word, 0)
    return found


@command(
    "SORT",
    arity=-2,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.MOVABLEKEYS | Flags.READS_OTHERS,
    group="generic",
    since="1.0.0",
    complexity=OF_SORTS,
    keys=(SOURCE, LOOKED_UP, UnknownKeys(OW | UPDATE)),
    get_keys=_keys_of_sort,
    categories=["set", "sortedset", "list", "dangerous"],
)
def sort(call: Call) -> Reply:
    """Returns the elements of a list, set or sorted set in order, or stores them as a list.

    SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]
    [STORE destination]
    """
    wanted = SortArgs(call.argv, may_store=True)
    _check_rights(call, wanted)
    found = _sorted(call, wanted)
    return found if wanted.target is None else _store(call, wanted.target, found)


@command(
    "SORT_RO",
    arity=-2,
    flags=Flags.READONLY | Flags.MOVABLEKEYS | Flags.READS_OTHERS,
    group="generic",
    since="7.0.0",
    complexity=OF_SORTS,
    keys=(SOURCE, LOOKED_UP),
    get_keys=_keys_of_sort,
    categories=["set", "sortedset", "list", "dangerous"],
)
def sort_ro(call: Call) -> Reply:
    """Returns the elements of a list, set or sorted set in order.

    SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC]
    [ALPHA]
    """
    wanted = SortArgs(call.argv, may_store=False)
    _check_rights(call, wanted)
    return _sorted(call, wanted)


class SortArgs:
    """The options, in any order; of those that are given twice the last one counts, but for GET.

    One BY without ``*`` is enough for nothing to be compared.
    """

    __slots__ = ("alpha", "by", "count", "descending", "gets", "keeps_order", "offset", "target")

    def __init__(self, argv: list[bytes], may_store: bool) -> None:
        self.alpha = self.descending = False
        self.by: bytes | None = None
        self.keeps_order = False  # whether nothing is compared
        self.gets: list[bytes] = []
        self.offset, self.count = 0, -1
        self.target: bytes | None = None
        args = Args(argv, 2)
        while args.left():
            if args.skip(b"ASC"):
                self.descending = False
            elif args.skip(b"DESC"):
                self.descending = True
            elif args.skip(b"ALPHA"):
                self.alpha = True
            elif args.left() > 2 and args.skip(b"LIMIT"):
                self.offset, self.count = args.take_int(), args.take_int()
            elif may_store and args.left() > 1 and args.skip(b"STORE"):
                self.target = args.take()
            elif args.left() > 1 and args.skip(b"BY"):
                self.by = args.take()
                self.keeps_order = self.keeps_order or b"*" not in self.by
            elif args.left() > 1 and args.skip(b"GET"):
                self.gets.append(args.take())
            else:
                raise errors.SYNTAX

    @property
    def reads_weights(self) -> bool:
        """Whether BY reads the values of other keys."""
        return self.by is not None and b"*" in self.by

    def cut(self, elements: list[bytes]) -> list[bytes]:
        """What LIMIT leaves of *elements*."""
        first = max(self.offset, 0)
        return elements[first : first + self.count] if self.count >= 0 else elements[first:]


def _check_rights(call: Call, wanted: SortArgs) -> None:
    """Refuse patterns of keys to a user who may not read all keys. Raises ErrorReply.

    The elements say which keys are read: nobody can tell before. ``GET #`` is refused as well.
    """
    if not call.client.flags & RESTRICTED:
        return
    option = "BY" if wanted.reads_weights else "GET" if wanted.gets else ""
    if option and not call.client.user.may_read_all_keys(call.command, call.argv):
        raise ErrorReply(
            "ERR", f"{option} option of SORT denied due to insufficient ACL permissions."
        )


# ---------------------------------------------------------------------- the order


def _sorted(call: Call, wanted: SortArgs) -> list[Reply]:
    """The elements, or what GET gets for them."""
    value = call.db.read(call.argv[1], ANY)
    if value is None:
        return []
    if not isinstance(value, (QuickList, MemberSet, SortedSet)):
        raise WrongType
    is_for_good = wanted.target is not None or call.origin & SCRIPT  # a script may write it
    if isinstance(value, MemberSet) and wanted.keeps_order and is_for_good:
        # A set has no order, and what is kept needs one.
        wanted.by, wanted.keeps_order, wanted.alpha = None, False, True
    elements = [member for member, _ in value] if isinstance(value, SortedSet) else list(value)
    if not wanted.keeps_order:
        elements = _in_order(call, elements, wanted)
    elif wanted.descending and not isinstance(value, MemberSet):
        elements.reverse()  # what has an order is read from its end
    elements = wanted.cut(elements)
    if not wanted.gets:
        return list(elements)
    patterns = [Pattern(pattern) for pattern in wanted.gets]
    return [pattern.lookup(call, element) for element in elements for pattern in patterns]


def _in_order(call: Call, elements: list[bytes], wanted: SortArgs) -> list[bytes]:
    """*elements* by their weights: texts with ALPHA, otherwise doubles. Raises NOT_A_DOUBLE."""
    if wanted.by is None:
        if wanted.alpha:
            return sorted(elements, reverse=wanted.descending)
        return sort_order.by_number(elements, elements, wanted.descending)
    pattern = Pattern(wanted.by)
    texts = [pattern.lookup(call, element) for element in elements]
    if not wanted.alpha:
        return sort_order.by_number(elements, texts, wanted.descending)
    rows = [(0.0 if text is None else 1.0, text or b"") for text in texts]
    order = sorted(range(len(rows)), key=rows.__getitem__, reverse=wanted.descending)
    return [elements[at] for at in order]


# ---------------------------------------------------------------------- STORE


def _store(call: Call, target: bytes, found: list[Reply]) -> Reply:
    """Store *found* as a list, whatever was at *target*; nothing deletes it. Returns the length."""
    if found:
        values = QuickList(call.server.node_limits.list_size)
        for element in found:
            values.push_right(element if isinstance(element, bytes) else b"")
        call.db.put(target, values)
        call.db.changed(target, b"sortstore", changes=len(found))
    elif call.db.remove(target):
        call.db.changed(target, b"del")
    return len(found)
