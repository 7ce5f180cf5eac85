"""The list commands that never wait."""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.commands.lists import list_steps
from server.commands.shared.count_args import take_keys_end_count
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from server.table.keys import ACCESS, DELETE, INSERT, RO, RW, UPDATE, CountedKeys, KeyRange
from storage.lists.quicklist import QuickList

READ = Flags.READONLY
WRITE = Flags.WRITE | Flags.DENYOOM

RANK_IS_ZERO = ErrorReply(
    "ERR",
    "RANK can't be zero: use 1 to start from the first match, 2 from the second ... "
    "or use negative to start from the end of the list",
)
NO_NEGATIVE = ErrorReply(
    "ERR", f"value is out of range, value must between {-INT64_MAX} and {INT64_MAX}"
)
COUNT_NEGATIVE = ErrorReply("ERR", "COUNT can't be negative")
MAXLEN_NEGATIVE = ErrorReply("ERR", "MAXLEN can't be negative")


# ---------------------------------------------------------------------- push and pop


@command(
    "LPUSH",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="list",
    since="1.0.0",
    complexity="O(1) for each element added.",
    keys=KeyRange(RW | INSERT),
    history=[("2.4.0", "More than one element at a time.")],
)
def lpush(call: Call) -> Reply:
    """Adds elements before the first of a list, one after the other; returns the length.

    LPUSH key element [element ...]
    """
    return list_steps.push(call, call.argv[1], call.argv, 2, left=True)


@command(
    "RPUSH",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="list",
    since="1.0.0",
    complexity="O(1) for each element added.",
    keys=KeyRange(RW | INSERT),
    history=[("2.4.0", "More than one element at a time.")],
)
def rpush(call: Call) -> Reply:
    """Adds elements after the last of a list; returns the length.

    RPUSH key element [element ...]
    """
    return list_steps.push(call, call.argv[1], call.argv, 2, left=False)


@command(
    "LPUSHX",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="list",
    since="2.2.0",
    complexity="O(1) for each element added.",
    keys=KeyRange(RW | INSERT),
    history=[("4.0.0", "More than one element at a time.")],
)
def lpushx(call: Call) -> Reply:
    """Does what LPUSH does if there is a list at the key, else nothing.

    LPUSHX key element [element ...]
    """
    return _push_if_there(call, left=True)


@command(
    "RPUSHX",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="list",
    since="2.2.0",
    complexity="O(1) for each element added.",
    keys=KeyRange(RW | INSERT),
    history=[("4.0.0", "More than one element at a time.")],
)
def rpushx(call: Call) -> Reply:
    """Does what RPUSH does if there is a list at the key, else nothing.

    RPUSHX key element [element ...]
    """
    return _push_if_there(call, left=False)


def _push_if_there(call: Call, left: bool) -> Reply:
    if call.db.find(call.argv[1], QuickList) is None:
        return 0
    return list_steps.push(call, call.argv[1], call.argv, 2, left)


@command(
    "LPOP",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="list",
    since="1.0.0",
    complexity="O(N) where N is the number of elements returned.",
    keys=KeyRange(RW | ACCESS | DELETE),
    history=[("6.2.0", "The count argument.")],
)
def lpop(call: Call) -> Reply:
    """Takes the first element of a list, or the first so many.

    LPOP key [count]
    """
    return _pop(call, True)


@command(
    "RPOP",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="list",
    since="1.0.0",
    complexity="O(N) where N is the number of elements returned.",
    keys=KeyRange(RW | ACCESS | DELETE),
    history=[("6.2.0", "The count argument.")],
)
def rpop(call: Call) -> Reply:
    """Takes the last element of a list, or the last so many.

    RPOP key [count]
    """
    return _pop(call, False)


def _pop(call: Call, left: bool) -> Reply:
    argv = call.argv
    if len(argv) == 2:
        values = list_steps.find_list(call, argv[1])
        return None if values is None else list_steps.pop(call, argv[1], values, left)
    if len(argv) > 3:
        raise errors.wrong_arity("lpop" if left else "rpop")
    count = to_int(argv[2], errors.NOT_POSITIVE)
    if count < 0:
        raise errors.NOT_POSITIVE
    values = list_steps.find_list(call, argv[1])
    if values is None:
        return NULL_ARRAY
    if count == 0:
        return []
    return list(list_steps.pop_many(call, argv[1], values, left, count))


@command(
    "LMPOP",
    arity=-4,
    flags=Flags.WRITE | Flags.MOVABLEKEYS,
    group="list",
    since="7.0.0",
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements "
    "returned.",
    keys=CountedKeys(RW | ACCESS | DELETE, count_at=1),
)
def lmpop(call: Call) -> Reply:
    """Takes elements from one end of the first of several lists that is not empty.

    LMPOP numkeys key [key ...] <LEFT | RIGHT> [COUNT count]
    """
    keys, left, count = take_keys_end_count(Args(call.argv), list_steps.LEFT, list_steps.RIGHT)
    found = list_steps.first_with_elements(call, keys)
    if found is None:
        return NULL_ARRAY
    key, values = found
    return [key, list(list_steps.pop_first(call, key, values, left, count))]


@command(
    "LMOVE",
    arity=5,
    flags=WRITE,
    group="list",
    since="6.2.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
)
def lmove(call: Call) -> Reply:
    """Takes an element from an end of one list, adds it to an end of another and returns it.

    LMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT>
    """
    args = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(args), list_steps.take_end(args)
    return list_steps.move(call, call.argv[1], call.argv[2], from_left, to_left)


@command(
    "RPOPLPUSH",
    arity=3,
    flags=WRITE,
    group="list",
    since="1.2.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
    deprecated=Deprecated("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments"),
)
def rpoplpush(call: Call) -> Reply:
    """Takes the last element of one list, makes it the first of another and returns it.

    RPOPLPUSH source destination
    """
    return list_steps.move(call, call.argv[1], call.argv[2], from_left=False, to_left=True)


# ---------------------------------------------------------------------- reading


@command("LLEN", arity=2, flags=READ | Flags.FAST, group="list", since="1.0.0", keys=KeyRange(RO))
def llen(call: Call) -> Reply:
    """Counts the elements of a list.

    LLEN key
    """
    values = call.db.read(call.argv[1], QuickList)
    return 0 if values is None else len(values)


@command(
    "LINDEX",
    arity=3,
    flags=READ,
    group="list",
    since="1.0.0",
    complexity="O(N) where N is the number of nodes to traverse to get to the element at index.",
    keys=KeyRange(RO | ACCESS),
)
def lindex(call: Call) -> Reply:
    """Looks up a list's element by index; negative ones count from the end.

    LINDEX key index
    """
    values = call.db.read(call.argv[1], QuickList)
    if values is None:
        return None
    return values.get(to_int(call.argv[2]))


@command(
    "LRANGE",
    arity=4,
    flags=READ,
    group="list",
    since="1.0.0",
    complexity="O(S+N) where S is the distance of start offset from the nearest end, in nodes, "
    "and N is the number of elements in the specified range.",
    keys=KeyRange(RO | ACCESS),
)
def lrange(call: Call) -> Reply:
    """Returns the elements from one index to another, both included.

    LRANGE key start stop
    """
    start, stop = to_int(call.argv[2]), to_int(call.argv[3])
    values = call.db.read(call.argv[1], QuickList)
    if values is None:
        return []
    out = call.client.out.another()
    list_steps.write_range(out, values, start, stop)
    return out


@command(
    "LPOS",
    arity=-3,
    flags=READ,
    group="list",
    since="6.0.6",
    complexity="O(N) where N is the number of elements in the list, for the average case.",
    keys=KeyRange(RO | ACCESS),
)
def lpos(call: Call) -> Reply:
    """Searches a list for an element, from either end; returns indexes.

    LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]
    """
    rank, count, maxlen = _lpos_options(Args(call.argv, 3))
    values = call.db.read(call.argv[1], QuickList)
    if values is None:
        return None if count is None else []
    wanted = 1 if count is None else count
    found = values.positions(call.argv[2], rank, wanted, maxlen)
    if count is None:
        return found[0] if found else None
    return list(found)


def _lpos_options(args: Args) -> tuple[int, int | None, int]:
    """RANK (from 1, negative from the end), COUNT (0: all; None: not given), MAXLEN (0: all)."""
    rank, count, maxlen = 1, None, 0
    while args.left():
        word = args.take_word(b"RANK", b"COUNT", b"MAXLEN")
        if word is None or not args.left():
            raise errors.SYNTAX
        if word == b"RANK":
            rank = _negatable(args.take_int())
            if rank == 0:
                raise RANK_IS_ZERO
        elif word == b"COUNT":
            count = _not_negative(args.take(), COUNT_NEGATIVE)
        else:
            maxlen = _not_negative(args.take(), MAXLEN_NEGATIVE)
    return rank, count, maxlen


def _negatable(number: int) -> int:
    """*number*, negative from the end. Raises NO_NEGATIVE for the one that has no inverse."""
    if number == INT64_MIN:
        raise NO_NEGATIVE
    return number


def _not_negative(text: bytes, error: ErrorReply) -> int:
    """A number of at least 0. Raises *error* for all else."""
    number = to_int(text, error)
    if number < 0:
        raise error
    return number


# ---------------------------------------------------------------------- changing in the middle


@command(
    "LSET",
    arity=4,
    flags=WRITE,
    group="list",
    since="1.0.0",
    complexity="O(N) where N is the number of nodes of the list.",
    keys=KeyRange(RW | UPDATE),
)
def lset(call: Call) -> Reply:
    """Replaces the element at an index.

    LSET key index element
    """
    _, key, index, element = call.argv
    values = list_steps.find_list(call, key)
    if values is None:
        raise errors.NO_SUCH_KEY
    at = to_int(index)
    if not -len(values) <= at < len(values):
        raise errors.INDEX_OUT_OF_RANGE
    values.set(at, element)
    call.db.changed(key, b"lset")
    return OK


@command(
    "LINSERT",
    arity=5,
    flags=WRITE,
    group="list",
    since="2.2.0",
    complexity="O(N) where N is the number of elements to traverse before seeing the value pivot.",
    keys=KeyRange(RW | INSERT),
)
def linsert(call: Call) -> Reply:
    """Adds an element to a list, next to the first one that equals the pivot.

    LINSERT key <BEFORE | AFTER> pivot element
    """
    _, key, _, pivot, element = call.argv
    where = Args(call.argv, 2).take_word(b"BEFORE", b"AFTER")
    if where is None:
        raise errors.SYNTAX
    values = list_steps.find_list(call, key)
    if values is None:
        return 0
    if not values.insert(pivot, element, where == b"BEFORE"):
        return -1
    list_steps.tell_longer(call, key)
    call.db.changed(key, b"linsert")
    return len(values)


@command(
    "LREM",
    arity=4,
    flags=Flags.WRITE,
    group="list",
    since="1.0.0",
    complexity="O(N+M) where N is the length of the list and M is the number of elements removed.",
    keys=KeyRange(RW | DELETE),
)
def lrem(call: Call) -> Reply:
    """Removes elements equal to the one given: all, or so many counted from either end.

    LREM key count element
    """
    _, key, count, element = call.argv
    wanted = _negatable(to_int(count))
    values = list_steps.find_list(call, key)
    if values is None:
        return 0
    removed = values.remove(wanted, element)
    if removed:
        call.db.changed(key, b"lrem", changes=removed)
        list_steps.delete_if_empty(call, key, values)
    return removed


@command(
    "LTRIM",
    arity=4,
    flags=Flags.WRITE,
    group="list",
    since="1.0.0",
    complexity="O(N) where N is the number of elements to be removed by the operation.",
    keys=KeyRange(RW | DELETE),
)
def ltrim(call: Call) -> Reply:
    """Keeps only the elements between two indexes, both included.

    LTRIM key start stop
    """
    start, stop = to_int(call.argv[2]), to_int(call.argv[3])
    key = call.argv[1]
    values = list_steps.find_list(call, key)
    if values is None:
        return OK
    before = len(values)
    values.trim(start, stop)
    call.db.changed(key, b"ltrim", changes=before - len(values))
    list_steps.delete_if_empty(call, key, values)
    return OK
