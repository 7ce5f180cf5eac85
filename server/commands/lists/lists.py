"""The list commands that never wait."""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.commands.lists import list_reply, list_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, Args, to_int
from server.table.command import Flags, Keys, NumberedKeys, command
from storage.lists.quicklist import QuickList

READ = Flags.READONLY
WRITE = Flags.WRITE | Flags.DENYOOM
KEY = Keys(1, 1)
READ_KEY = Keys(1, 1, access="RO")
TWO_KEYS = Keys(1, 2)

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
    "LPUSH", arity=-3, flags=WRITE | Flags.FAST, group="list", since="1.0.0", keys=KEY,
    complexity="O(1) for each element added.",
)  # fmt: skip
def lpush(call: Call) -> Reply:
    """Prepends one or more elements to a list. Creates the key if it doesn't exist.

    LPUSH key element [element ...]
    """
    return list_steps.push(call, call.argv[1], call.argv, 2, left=True)


@command(
    "RPUSH", arity=-3, flags=WRITE | Flags.FAST, group="list", since="1.0.0", keys=KEY,
    complexity="O(1) for each element added.",
)  # fmt: skip
def rpush(call: Call) -> Reply:
    """Appends one or more elements to a list. Creates the key if it doesn't exist.

    RPUSH key element [element ...]
    """
    return list_steps.push(call, call.argv[1], call.argv, 2, left=False)


@command(
    "LPUSHX", arity=-3, flags=WRITE | Flags.FAST, group="list", since="2.2.0", keys=KEY,
    complexity="O(1) for each element added.",
)  # fmt: skip
def lpushx(call: Call) -> Reply:
    """Prepends one or more elements to a list only when the list exists.

    LPUSHX key element [element ...]
    """
    return _push_if_there(call, left=True)


@command(
    "RPUSHX", arity=-3, flags=WRITE | Flags.FAST, group="list", since="2.2.0", keys=KEY,
    complexity="O(1) for each element added.",
)  # fmt: skip
def rpushx(call: Call) -> Reply:
    """Appends one or more elements to a list only when the list exists.

    RPUSHX key element [element ...]
    """
    return _push_if_there(call, left=False)


def _push_if_there(call: Call, left: bool) -> Reply:
    if call.db.find(call.argv[1], QuickList) is None:
        return 0
    return list_steps.push(call, call.argv[1], call.argv, 2, left)


@command(
    "LPOP", arity=-2, flags=Flags.WRITE | Flags.FAST, group="list", since="1.0.0", keys=KEY,
    complexity="O(N) where N is the number of elements returned.",
)  # fmt: skip
def lpop(call: Call) -> Reply:
    """Returns and removes one or more elements from the beginning of a list.

    LPOP key [count]
    """
    return _pop(call, left=True)


@command(
    "RPOP", arity=-2, flags=Flags.WRITE | Flags.FAST, group="list", since="1.0.0", keys=KEY,
    complexity="O(N) where N is the number of elements returned.",
)  # fmt: skip
def rpop(call: Call) -> Reply:
    """Returns and removes one or more elements from the end of a list.

    RPOP key [count]
    """
    return _pop(call, left=False)


def _pop(call: Call, left: bool) -> Reply:
    argv = call.argv
    if len(argv) == 2:
        values = list_steps.find(call, argv[1])
        return None if values is None else list_steps.pop(call, argv[1], values, left)
    if len(argv) > 3:
        raise errors.wrong_arity("lpop" if left else "rpop")
    count = to_int(argv[2], errors.NOT_POSITIVE)
    if count < 0:
        raise errors.NOT_POSITIVE
    values = list_steps.find(call, argv[1])
    if values is None:
        return NULL_ARRAY
    if count == 0:
        return []
    return list(list_steps.pop_many(call, argv[1], values, left, count))


@command(
    "LMPOP", arity=-4, flags=Flags.WRITE | Flags.MOVABLEKEYS, group="list", since="7.0.0",
    keys=NumberedKeys(1),
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements "
    "returned.",
)  # fmt: skip
def lmpop(call: Call) -> Reply:
    """Returns multiple elements from a list after removing them.

    LMPOP numkeys key [key ...] <LEFT | RIGHT> [COUNT count]
    """
    keys, left, count = list_steps.take_keys_end_count(Args(call.argv))
    found = list_steps.first_with_elements(call, keys)
    if found is None:
        return NULL_ARRAY
    key, values = found
    elements = list_steps.pop_many(call, key, values, left, count)
    call.log_as(b"LPOP" if left else b"RPOP", key, b"%d" % len(elements))
    return [key, list(elements)]


@command("LMOVE", arity=5, flags=WRITE, group="list", since="6.2.0", keys=TWO_KEYS)
def lmove(call: Call) -> Reply:
    """Returns an element after popping it from one list and pushing it to another.

    LMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT>
    """
    args = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(args), list_steps.take_end(args)
    return list_steps.move(call, call.argv[1], call.argv[2], from_left, to_left)


@command("RPOPLPUSH", arity=3, flags=WRITE, group="list", since="1.2.0", keys=TWO_KEYS)
def rpoplpush(call: Call) -> Reply:
    """Returns the last element of a list after removing and pushing it to another list.

    RPOPLPUSH source destination
    """
    return list_steps.move(call, call.argv[1], call.argv[2], from_left=False, to_left=True)


# ---------------------------------------------------------------------- reading


@command("LLEN", arity=2, flags=READ | Flags.FAST, group="list", since="1.0.0", keys=READ_KEY)
def llen(call: Call) -> Reply:
    """Returns the length of a list.

    LLEN key
    """
    values = call.db.read(call.argv[1], QuickList)
    return 0 if values is None else len(values)


@command(
    "LINDEX", arity=3, flags=READ, group="list", since="1.0.0", keys=READ_KEY,
    complexity="O(N) where N is the number of nodes to traverse to get to the element at index.",
)  # fmt: skip
def lindex(call: Call) -> Reply:
    """Returns an element from a list by its index.

    LINDEX key index
    """
    values = call.db.read(call.argv[1], QuickList)
    if values is None:
        return None
    return values.get(to_int(call.argv[2]))


@command(
    "LRANGE", arity=4, flags=READ, group="list", since="1.0.0", keys=READ_KEY,
    complexity="O(S+N) where S is the distance of start offset from the nearest end, in nodes, "
    "and N is the number of elements in the specified range.",
)  # fmt: skip
def lrange(call: Call) -> Reply:
    """Returns a range of elements from a list.

    LRANGE key start stop
    """
    start, stop = to_int(call.argv[2]), to_int(call.argv[3])
    values = call.db.read(call.argv[1], QuickList)
    if values is None:
        return []
    out = call.client.out.another()
    list_reply.write_range(out, values, start, stop)
    return out


@command(
    "LPOS", arity=-3, flags=READ, group="list", since="6.0.6", keys=READ_KEY,
    complexity="O(N) where N is the number of elements in the list, for the average case.",
)  # fmt: skip
def lpos(call: Call) -> Reply:
    """Returns the index of matching elements in a list.

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
    while args.left:
        word = args.take_word(b"RANK", b"COUNT", b"MAXLEN")
        if word is None or not args.left:
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
    """*number*, whose sign says from which end. Raises NO_NEGATIVE for the one without negative."""
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
    "LSET", arity=4, flags=WRITE, group="list", since="1.0.0", keys=KEY,
    complexity="O(N) where N is the number of nodes of the list.",
)  # fmt: skip
def lset(call: Call) -> Reply:
    """Sets the value of an element in a list by its index.

    LSET key index element
    """
    _, key, index, element = call.argv
    values = list_steps.find(call, key)
    if values is None:
        raise errors.NO_SUCH_KEY
    at = to_int(index)
    if not -len(values) <= at < len(values):
        raise errors.INDEX_OUT_OF_RANGE
    values.set(at, element)
    call.db.changed(key, b"lset")
    return OK


@command(
    "LINSERT", arity=5, flags=WRITE, group="list", since="2.2.0", keys=KEY,
    complexity="O(N) where N is the number of elements to traverse before seeing the value pivot.",
)  # fmt: skip
def linsert(call: Call) -> Reply:
    """Inserts an element before or after another element in a list.

    LINSERT key <BEFORE | AFTER> pivot element
    """
    _, key, _, pivot, element = call.argv
    where = Args(call.argv, 2).take_word(b"BEFORE", b"AFTER")
    if where is None:
        raise errors.SYNTAX
    values = list_steps.find(call, key)
    if values is None:
        return 0
    if not values.insert(pivot, element, where == b"BEFORE"):
        return -1
    call.db.changed(key, b"linsert")
    return len(values)


@command(
    "LREM", arity=4, flags=Flags.WRITE, group="list", since="1.0.0", keys=KEY,
    complexity="O(N+M) where N is the length of the list and M is the number of elements removed.",
)  # fmt: skip
def lrem(call: Call) -> Reply:
    """Removes elements from a list. Deletes the list if the last element was removed.

    LREM key count element
    """
    _, key, count, element = call.argv
    wanted = _negatable(to_int(count))
    values = list_steps.find(call, key)
    if values is None:
        return 0
    removed = values.remove(wanted, element)
    if removed:
        call.db.changed(key, b"lrem", removed)
        list_steps.delete_if_empty(call, key, values)
    return removed


@command(
    "LTRIM", arity=4, flags=Flags.WRITE, group="list", since="1.0.0", keys=KEY,
    complexity="O(N) where N is the number of elements to be removed by the operation.",
)  # fmt: skip
def ltrim(call: Call) -> Reply:
    """Removes elements from both ends of a list. Deletes the list if all elements were trimmed.

    LTRIM key start stop
    """
    start, stop = to_int(call.argv[2]), to_int(call.argv[3])
    key = call.argv[1]
    values = list_steps.find(call, key)
    if values is None:
        return OK
    before = len(values)
    values.trim(start, stop)
    call.db.changed(key, b"ltrim", before - len(values))
    list_steps.delete_if_empty(call, key, values)
    return OK
