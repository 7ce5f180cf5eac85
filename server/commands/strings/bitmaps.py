"""The commands on single bits of a string, on ranges of bits, and on all bits of strings."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import args, errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, OW, RO, RW, UPDATE, KeyRange
from storage.keyspace.key_lookups import STRING
from storage.strings import bits
from storage.strings.bits import AND, ANDOR, DIFF, DIFF1, NOT, ONE, OR, XOR

READ = Flags.READONLY
WRITE = Flags.WRITE | Flags.DENYOOM

BAD_BIT = ErrorReply("ERR", "bit is not an integer or out of range")
NOT_A_BIT = ErrorReply("ERR", "The bit argument must be 1 or 0.")
NOT_OF_ONE = ErrorReply("ERR", "BITOP NOT must be called with a single source key.")

OPERATIONS = {b"AND": AND, b"OR": OR, b"XOR": XOR, b"NOT": NOT}
SELECTIONS = {b"DIFF": DIFF, b"DIFF1": DIFF1, b"ANDOR": ANDOR, b"ONE": ONE}


# ---------------------------------------------------------------------- one bit


@command(
    "SETBIT",
    arity=4,
    flags=WRITE,
    group="bitmap",
    since="2.2.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
    types={"value": "integer"},
)
def setbit(call: Call) -> Reply:
    """Sets a bit of a string and returns the one it replaces; the string grows as needed.

    SETBIT key offset value
    """
    argv = call.argv
    offset = string_steps.to_bit_offset(call, argv[2])
    bit = args.to_int(argv[3], BAD_BIT)
    if bit not in (0, 1):
        raise BAD_BIT
    return string_steps.set_bit(call, argv[1], offset, bit)


@command(
    "GETBIT",
    arity=3,
    flags=READ | Flags.FAST,
    group="bitmap",
    since="2.2.0",
    keys=KeyRange(RO | ACCESS),
)
def getbit(call: Call) -> Reply:
    """Returns a bit of a string; bits beyond the end are 0.

    GETBIT key offset
    """
    offset = string_steps.to_bit_offset(call, call.argv[2])
    value = call.db.read(call.argv[1], STRING)
    return 0 if value is None else bits.at(string_steps.octets_of(value), offset)


# ---------------------------------------------------------------------- ranges of bits


@command(
    "BITCOUNT",
    arity=-2,
    flags=READ,
    group="bitmap",
    since="2.6.0",
    complexity="O(N) where N is the number of bytes counted.",
    keys=KeyRange(RO | ACCESS),
    history=[("7.0.0", "BYTE and BIT.")],
)
def bitcount(call: Call) -> Reply:
    """Counts the bits of a string, or of a range of it, that are 1.

    BITCOUNT key [start end [BYTE | BIT]]
    """
    argv = call.argv
    if len(argv) == 3 or len(argv) > 5:
        raise errors.SYNTAX
    start = args.to_int(argv[2]) if len(argv) > 3 else 0
    end = args.to_int(argv[3]) if len(argv) > 3 else -1
    by_bits = len(argv) == 5 and _is_bit_unit(argv[4])
    value = call.db.read(argv[1], STRING)
    if value is None or (start < 0 and end < 0 and start > end):
        return 0
    text = string_steps.octets_of(value)
    first, last = _bits_between(start, end, len(text), by_bits)
    return bits.count(text, first, last) if first <= last else 0


@command(
    "BITPOS",
    arity=-3,
    flags=READ,
    group="bitmap",
    since="2.8.7",
    complexity="O(N) where N is the number of bytes searched.",
    keys=KeyRange(RO | ACCESS),
    history=[("7.0.0", "BYTE and BIT.")],
    types={"bit": "integer"},
)
def bitpos(call: Call) -> Reply:
    """Finds the first bit of a string, or of a range of it, that is 1 or 0; -1 if there is none.

    BITPOS key bit [start [end [BYTE | BIT]]]
    """
    argv = call.argv
    bit = args.to_int(argv[2])
    if bit not in (0, 1):
        raise NOT_A_BIT
    if len(argv) > 6:
        raise errors.SYNTAX
    start = args.to_int(argv[3]) if len(argv) > 3 else 0
    by_bits = len(argv) == 6 and _is_bit_unit(argv[5])
    end = args.to_int(argv[4]) if len(argv) > 4 else -1
    value = call.db.read(argv[1], STRING)
    if value is None:
        return -1 if bit else 0
    text = string_steps.octets_of(value)
    first, last = _bits_between(start, end, len(text), by_bits)
    if first > last:
        return -1
    found: int = bits.position(text, bool(bit), first, last)
    if found < 0 and not bit and len(argv) < 5:
        return 8 * len(text)  # without an end, zeros follow the string
    return found


def _is_bit_unit(word: bytes) -> bool:
    """Whether *word* says that a range is one of bits: BIT, not BYTE. Raises SYNTAX."""
    unit = word.upper()
    if unit not in (b"BIT", b"BYTE"):
        raise errors.SYNTAX
    return unit == b"BIT"


def _bits_between(start: int, end: int, size: int, by_bits: bool) -> tuple[int, int]:
    """The first and the last bit of a range in a string of *size* bytes; none if first > last.

    *start* and *end* count bytes, or bits if *by_bits*; negative ones count from the end.
    """
    total = 8 * size if by_bits else size
    start = max(start + total, 0) if start < 0 else start
    end = max(end + total, 0) if end < 0 else end
    end = min(end, total - 1)
    if start > end:
        return 1, 0
    return (start, end) if by_bits else (8 * start, 8 * end + 7)


# ---------------------------------------------------------------------- all bits


@command(
    "BITOP",
    arity=-4,
    flags=WRITE,
    group="bitmap",
    since="2.6.0",
    complexity="O(N) where N is the number of bytes of all source strings.",
    keys=(KeyRange(OW | UPDATE, first=2), KeyRange(RO | ACCESS, first=3, last=-1)),
    types={"destkey": "key"},
    history=[("8.2.0", "DIFF, DIFF1, ANDOR and ONE.")],
)
def bitop(call: Call) -> Reply:
    """Combines strings bit by bit and stores the result; returns its length in bytes.

    BITOP <AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE> destkey key [key ...]
    """
    target, sources = call.argv[2], call.argv[3:]
    operation = OPERATIONS.get(call.argv[1].upper())
    if operation is None:
        _check_selection(call.argv)
    if operation == NOT and len(sources) > 1:
        raise NOT_OF_ONE
    db = call.db
    texts: list[bytes | bytearray] = []
    for key in sources:
        value = db.read(key, STRING)
        texts.append(b"" if value is None else string_steps.octets_of(value))
    log = None
    if operation is None:
        result = bits.selected(SELECTIONS[call.argv[1].upper()], texts)
        if call.is_logged:  # in words that older servers know
            log = (b"SET", target, bytes(result)) if result else (b"DEL", target)
    else:
        result = bits.combined(operation, texts)
    if result:
        db.put(target, result)
        db.changed(target, b"set", changes=1, log=log)
    elif db.remove(target):
        db.changed(target, b"del", changes=1, log=log)
    return len(result)


def _check_selection(argv: list[bytes]) -> None:
    """Raise an error if it is none of SELECTIONS, or if all but ONE have one source only."""
    selection = SELECTIONS.get(argv[1].upper())
    if selection is None:
        raise errors.SYNTAX
    if selection != ONE and len(argv) < 5:
        text = f"BITOP {selection} must be called with at least two source keys."
        raise ErrorReply("ERR", text)
