# cython: boundscheck=False, wraparound=False
"""A HyperLogLog: estimates how many different elements were added, in 12 KB at most.

    string     "HYLL" | form | 3 unused | estimate | registers
    form       00: dense, 01: sparse
    estimate   64 bits: the last one that was made; the highest bit is 1 if it is stale

    dense      16384 registers of 6 bits; the first is in the lowest bits of the first byte
    sparse     opcodes, one after the other, for all registers:
                 00xxxxxx             x + 1 registers are 0            ZERO
                 01xxxxxx yyyyyyyy    xy + 1 registers are 0           XZERO
                 1vvvvvxx             x + 1 registers are v + 1        VAL

The lowest 14 bits of an element's hash choose a register. The others are a run of zeros and a one,
seen from the lowest, and a register keeps the length of the longest such run. Numbers are
little-endian. A sparse one becomes dense when it gets longer than hll-sparse-max-bytes, or when a
register does not fit a VAL.

Sources: hyperloglog.c of Redis 7.0; O. Ertl, "New cardinality estimation algorithms for HyperLogLog
sketches", arXiv:1702.01284; MurmurHash64A by A. Appleby
"""

from __future__ import annotations

import math

from storage.rdb import raw
from storage.strings import bit_octets, register_octets

MAGIC = b"HYLL"
MAGIC_NUMBER = 0x4C4C5948  # the same as a number of 32 bits
DENSE, SPARSE = 0, 1
FORM = 4  # the offset of the form
ESTIMATE = 8  # the offset of the estimate
LAST_OF_ESTIMATE = 15
HEADER = 16  # bytes
STALE = 0x80  # in the last byte of the estimate

REGISTERS = 16384
INDEX_BITS = 14
RUN_BITS = 50  # of a hash, besides the index
RUN_END = 1 << 50  # RUN_BITS; the one of a hash without any
DENSE_SIZE = HEADER + REGISTERS * 6 // 8

ZERO, XZERO, VAL = 0x00, 0x40, 0x80
LONGEST_ZERO = 64  # registers
LONGEST_VAL = 4
GREATEST_VAL = 32
SCANNED = 5  # opcodes around a new one that may be joined

SEED = 0xADC83B19
MIX = 0xC6A4A7935BD1E995
MIX_SHIFT = 47
BITS_64 = 0xFFFFFFFFFFFFFFFF
TOO_MANY = 2.0**63
IMPOSSIBLE = ~(2**63 - 1)  # an estimate
ALPHA = 0.721347520444481703680  # 0.5 / ln 2


# ---------------------------------------------------------------------- as a whole


def new() -> bytearray:
    """A sparse one without elements, whose estimate is 0."""
    made = bytearray(HEADER + 2)
    made[:4] = MAGIC
    made[FORM] = SPARSE
    made[HEADER] = XZERO | (REGISTERS - 1) >> 8
    made[HEADER + 1] = (REGISTERS - 1) & 0xFF
    return made


def no_registers() -> bytearray:
    """All registers, a byte each; they are 0."""
    return bytearray(REGISTERS)


def is_one(text: bytes | bytearray) -> bool:
    """Whether *text* begins as one does, and has the right size if it is dense."""
    size = len(text)
    if size < HEADER:
        return False
    data = bit_octets.octets_of(text)
    if raw.u32(data, 0) != MAGIC_NUMBER or data[FORM] > SPARSE:
        return False
    return data[FORM] == SPARSE or size == DENSE_SIZE


def is_dense(data: bytearray) -> bool:
    """Whether it is dense."""
    return data[FORM] == DENSE


def is_whole(data: bytearray) -> bool:
    """Whether *data*, of which is_one holds, has all registers, and nothing else. O(registers).

    All that follows here relies on it: nothing else looks for the end.
    """
    if data[FORM] == DENSE:
        return True
    at = HEADER
    end = len(data)
    index = 0
    while at < end:
        opcode = data[at]
        at += 1
        if opcode & VAL:
            index += (opcode & 3) + 1
        elif opcode & XZERO:
            if at == end:
                return False
            index += ((opcode & 0x3F) << 8 | data[at]) + 1
            at += 1
        else:
            index += opcode + 1
    return index == REGISTERS


def _size(data: bytearray, at: int) -> int:
    """The bytes of the opcode at *at*."""
    return 2 if data[at] & 0xC0 == XZERO else 1


def _span(data: bytearray, at: int) -> int:
    """How many registers the opcode at *at* is for."""
    opcode = data[at]
    if opcode & VAL:
        return (opcode & 3) + 1
    if opcode & XZERO:
        return ((opcode & 0x3F) << 8 | data[at + 1]) + 1
    return opcode + 1


def _value(opcode: int) -> int:
    """What the registers of *opcode* are."""
    return (opcode >> 2 & 0x1F) + 1 if opcode & VAL else 0


# ---------------------------------------------------------------------- adding


def add(data: bytearray, element: bytes, most: int) -> bool:
    """Add *element* to *data*, which is whole. True if a register has changed.

    *most*: of how many bytes a sparse one may be. The estimate is not marked as stale.
    """
    hashed = murmur(element)
    index = hashed & (REGISTERS - 1)
    hashed = hashed >> INDEX_BITS | RUN_END
    run = 1
    while not hashed & 1:
        run += 1
        hashed >>= 1
    return raise_register(data, index, run, most)


def murmur(text: bytes) -> int:
    """MurmurHash64A of *text*. O(len)."""
    size = len(text)
    data = raw.of_bytes(text)
    mixed = SEED ^ (size * MIX & BITS_64)
    at = 0
    while at + 8 <= size:
        word = raw.u64(data, at) * MIX & BITS_64
        word = (word ^ word >> MIX_SHIFT) * MIX & BITS_64
        mixed = (mixed ^ word) * MIX & BITS_64
        at += 8
    if at < size:
        shift = 0
        while at < size:
            word = data[at]
            mixed ^= word << shift
            shift += 8
            at += 1
        mixed = mixed * MIX & BITS_64
    mixed = (mixed ^ mixed >> MIX_SHIFT) * MIX & BITS_64
    return mixed ^ mixed >> MIX_SHIFT


def raise_register(data: bytearray, index: int, value: int, most: int) -> bool:
    """Let the register *index* be *value* at least. True if it was less."""
    if data[FORM] == SPARSE:
        if value <= GREATEST_VAL:
            return _raise_sparse(data, index, value, most)
        to_dense(data)
    return _raise_dense(data, index, value)


def mark_stale(data: bytearray) -> None:
    """The estimate is stale."""
    data[LAST_OF_ESTIMATE] |= STALE


# ---------------------------------------------------------------------- the dense form


def _raise_dense(data: bytearray, index: int, value: int) -> bool:
    at = HEADER + (index * 6 >> 3)
    shift = index * 6 & 7
    old = data[at] >> shift
    if shift > 2:  # it goes on in the next byte
        old |= data[at + 1] << (8 - shift)
    old &= 63
    if value <= old:
        return False
    data[at] = (data[at] & ~(63 << shift) | value << shift) & 0xFF
    if shift > 2:
        data[at + 1] = data[at + 1] & ~(63 >> (8 - shift)) | value >> (8 - shift)
    return True


def to_dense(data: bytearray) -> None:
    """Make *data*, which is whole, dense; its estimate stays. O(registers)."""
    if data[FORM] == DENSE:
        return
    registers = no_registers()
    merge_into(registers, data)
    data[HEADER:] = bytes(DENSE_SIZE - HEADER)
    data[FORM] = DENSE
    register_octets.write_dense(data, registers)


# ---------------------------------------------------------------------- the sparse form


def _raise_sparse(data: bytearray, index: int, value: int, most: int) -> bool:
    """Raise register *index* to *value* in the sparse form, of *most* bytes; whether it changed.

    1. Find the opcode of the register, and the one before it.
    2. If it is a VAL of as much, nothing changes. If it is for this register alone, a VAL replaces
       it.
    3. Else replace it by three: what comes before the register, the register, what comes after it.
       If there is no room for them, change to the dense form.
    4. Join equal VALs near it.
    """
    at = before = HEADER  # 1
    first = 0
    span = _span(data, at)
    while first + span <= index:
        first += span
        before = at
        at += _size(data, at)
        span = _span(data, at)
    opcode = data[at]
    last = first + span - 1
    if _value(opcode) >= value:  # 2
        return False
    if first == last and _size(data, at) == 1:
        data[at] = _val(value, 1)
    else:  # 3
        made = _run(opcode, index - first)
        made.append(_val(value, 1))
        made += _run(opcode, last - index)
        if len(made) > _size(data, at) and len(data) + len(made) - _size(data, at) > most:
            to_dense(data)
            return _raise_dense(data, index, value)
        data[at : at + _size(data, at)] = made
    _join(data, before)  # 4
    return True


def _val(value: int, span: int) -> int:
    return VAL | (value - 1) << 2 | (span - 1)


def _run(opcode: int, span: int) -> bytearray:
    """*span* registers of the value that *opcode* gives; no opcode for none."""
    made = bytearray()
    if span > 0:
        if opcode & VAL:
            made.append(opcode & 0xFC | span - 1)
        elif span <= LONGEST_ZERO:
            made.append(ZERO | span - 1)
        else:
            made.append(XZERO | span - 1 >> 8)
            made.append(span - 1 & 0xFF)
    return made


def _join(data: bytearray, at: int) -> None:
    """Make one opcode of neighbours that are VALs of one value, from *at* on, near it."""
    left = SCANNED
    while at < len(data) and left > 0:
        left -= 1
        if data[at] & VAL and at + 1 < len(data) and data[at + 1] & VAL:
            span = _span(data, at) + _span(data, at + 1)
            if _value(data[at]) == _value(data[at + 1]) and span <= LONGEST_VAL:
                data[at + 1] = _val(_value(data[at]), span)
                del data[at : at + 1]
                continue
        at += _size(data, at)


# ---------------------------------------------------------------------- all registers


def merge_into(registers: bytearray, data: bytearray) -> None:
    """Let each of *registers*, one byte each, be what it is in *data* at least."""
    if data[FORM] == DENSE:
        register_octets.merge_dense(registers, data)
        return
    at = HEADER
    index = 0
    end = len(data)
    while at < end:
        value = _value(data[at])
        after = index + _span(data, at)
        while value and index < after:
            registers[index] = max(registers[index], value)
            index += 1
        index = after
        at += _size(data, at)


def raise_registers(data: bytearray, registers: bytearray, most: int) -> None:
    """Let the registers of *data*, none of which is greater, be *registers*."""
    for index in range(REGISTERS):
        if data[FORM] == DENSE:
            register_octets.write_dense(data, registers)
            return
        if registers[index]:
            raise_register(data, index, registers[index], most)


def estimate(registers: bytearray) -> int:
    """How many different elements were added, of *registers* with a byte each.

    Registers that no elements can have made may say more than 63 bits can hold, or infinitely many.
    Then it is the least number of 64 bits, as in Redis.
    """
    table = register_octets.tally(registers)
    size = float(REGISTERS)
    total = size * _tau((size - table[RUN_BITS + 1]) / size)
    for run in range(RUN_BITS, 0, -1):
        total = (total + table[run]) * 0.5
    total += size * _sigma(table[0] / size)
    if total * TOO_MANY <= ALPHA * size * size:
        return IMPOSSIBLE
    found = ALPHA * size * size / total
    whole = int(found)
    return whole + 1 if found - whole >= 0.5 else whole


def _sigma(share: float) -> float:
    """What registers that are 0 weigh; *share*: of all registers."""
    if share == 1.0:
        return math.inf
    step = 1.0
    total = share
    before = -1.0
    while before != total:
        share *= share
        before = total
        total += share * step
        step += step
    return total


def _tau(share: float) -> float:
    """What registers of the greatest value weigh; *share*: those of all that are less."""
    if share in (0.0, 1.0):
        return 0.0
    step = 1.0
    total = 1.0 - share
    before = -1.0
    while before != total:
        share = math.sqrt(share)
        before = total
        step *= 0.5
        total -= (1.0 - share) * (1.0 - share) * step
    return total / 3.0


# ---------------------------------------------------------------------- the estimate that is kept


def kept_estimate(data: bytes | bytearray) -> int:
    """The estimate that was made last; -1 if it is stale."""
    if data[LAST_OF_ESTIMATE] & STALE:
        return -1
    return raw.i64(bit_octets.octets_of(data), ESTIMATE)


def keep_estimate(data: bytearray, number: int) -> None:
    """Note the estimate that was made of *data*."""
    data[ESTIMATE:HEADER] = number.to_bytes(8, "little", signed=True)


# ---------------------------------------------------------------------- PFDEBUG


def description_of(data: bytearray) -> bytes:
    """The opcodes of a sparse one, which is whole: ``z:`` and ``Z:`` for zeros, ``v:`` for VAL."""
    words = []
    at = HEADER
    while at < len(data):
        span = _span(data, at)
        if data[at] & VAL:
            words.append(b"v:%d,%d" % (_value(data[at]), span))
        else:
            words.append(b"%b:%d" % (b"Z" if data[at] & XZERO else b"z", span))
        at += _size(data, at)
    return b" ".join(words)
