"""Functions written twice, inline in C and in plain Python: both have the same effect.

The results and the changed arguments are compared. Where a function leaves bytes undefined, or
writes past what it was asked for, only the defined bytes are. All arguments are within bounds,
since the compiled functions check none.
"""

from __future__ import annotations

import functools
import importlib
import os
import random
import struct
from copy import deepcopy
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.sorted_sets import score_octets
from tests.twins import wrappers

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PENSTOCK_UNCOMPILED")), reason="this leg of the tests runs uncompiled"
)

# The modules of one extension must differ in the last part of their names.
EXTENSIONS = {
    "protocol_twins": [
        "octets.buffers",
        "protocol.wire",
    ],
    "storage_twins": [
        "storage.octets",
        "storage.listpack.element_octets",
        "storage.hash_table.mark_octets",
        "storage.hash_table.packed_octets",
        "storage.rdb.raw",
        "storage.sets.intset_octets",
        "storage.side_data.deadline_octets",
        "storage.sorted_sets.score_octets",
        "storage.rax.branches",
        "storage.strings.bit_octets",
        "storage.strings.register_octets",
        "storage.geo.geohash",
        "storage.geo.place_marks",
        "storage.geo.sphere",
    ],
    "lua_twins": [
        "server.parts.scripting.lua.libraries.number_octets",
        "server.parts.scripting.lua.libraries.text_octets",
    ],
}
MODULES = {module: name for name, modules in EXTENSIONS.items() for module in modules}
FOLDER = wrappers.ROOT / "build" / "twins"


@functools.cache
def extension(name: str) -> ModuleType:
    return wrappers.build(name, wrappers.source_of(EXTENSIONS[name], ""), FOLDER)


# ---------------------------------------------------------------------- arguments

SIZE = 48  # bytes; the length of the buffers below
ROOM = 32  # bytes; no put_ function writes more
U8, U16, U32, U64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))
BITS = st.integers(0, 63).flatmap(lambda bits: st.integers(-(2**bits), 2**bits - 1))
I64 = BITS | st.sampled_from([0, 9, 10, 99, 100, -1, -9, -10, 2**63 - 1, -(2**63)])
I32_TEXT = st.integers(-(2**33), 2**33).map(lambda n: b"%d" % n)
NUMERALS = st.integers(-(2**64), 2**64).map(lambda n: b"%d" % n) | st.from_regex(
    rb"\A-?[0-9]{0,21}\Z"
)
TEXT = NUMERALS | st.binary(max_size=24) | st.sampled_from([b"", b"-", b"-0", b"00", b" 1", b"+1"])
DATA = st.binary(min_size=SIZE, max_size=SIZE)
BUFFER = DATA.map(bytearray)
AT = st.integers(0, SIZE - ROOM)
LENGTH = st.integers(0, 16)
ELEMENT_SIZES = st.sampled_from([0, 1, 62, 63, 64, 65, 127, 128, 4094, 4095, 4096, 16382, 16383])
ELEMENT_LENGTH = (
    ELEMENT_SIZES
    | st.integers(0, 2**32 - 6)
    | st.sampled_from([2097150, 2097151, 268435454, 268435455])
)


def args(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*strategies)


def put(number: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Arguments of a function that writes *number* into a buffer."""
    return st.tuples(BUFFER, AT, number)


READ = args(BUFFER, AT)
READ_BYTES = args(DATA, AT)
SLICE = args(BUFFER, AT, BUFFER, AT, LENGTH)
WHOLE_NUMBER = st.tuples(TEXT | st.sampled_from([b"9223372036854775807", b"-9223372036854775808"]))


@st.composite
def nearly_equal_words(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A word, and one in capitals: the same, or but for one letter."""
    words = st.text("aBcZz[{@`", max_size=12)
    word = draw(words | words.map(str.upper)).encode()
    text = bytearray(word)
    if word and draw(st.booleans()):
        text[draw(st.integers(0, len(word) - 1))] = draw(st.sampled_from(b"aAz[{"))
    return bytes(text), word.upper()


@st.composite
def word_that_stands_there(draw: st.DrawFn) -> tuple[bytes, int, int, bytes]:
    """Data, an offset, a length, and the word that is there, or differs in a byte, or in length."""
    data = draw(st.binary(min_size=SIZE, max_size=SIZE) | st.just(bytes(SIZE)))
    at, length = draw(st.integers(0, SIZE)), draw(st.integers(0, 20))
    word = bytearray(data[at : at + length])
    if word and draw(st.booleans()):
        word[draw(st.integers(0, len(word) - 1))] ^= 1
    return data, at, draw(st.sampled_from([len(word), length, length + 1])), bytes(word)


@st.composite
def words_of_which_one_stands_there(
    draw: st.DrawFn,
) -> tuple[list[bytes], int, bytes, int, int]:
    """Words, an index, which may be one too high, and data, offset and length as above."""
    data, at, length, word = draw(word_that_stands_there())
    words = draw(st.lists(st.just(word) | st.binary(max_size=3), max_size=3))
    return words, draw(st.integers(0, 3)), data, at, length


@st.composite
def strings(draw: st.DrawFn) -> tuple[bytearray, int, bytes]:
    """A buffer, an offset, and a string of a length around which a listpack's encoding changes."""
    value = bytes([draw(U8)]) * draw(ELEMENT_SIZES)
    return bytearray(len(value) + ROOM), draw(AT), value


@st.composite
def elements(draw: st.DrawFn) -> tuple[bytearray, int]:
    """A buffer, and the offset of a listpack element in it."""
    octets = importlib.import_module("storage.listpack.element_octets")
    buffer, at = draw(BUFFER) + bytearray(5000), draw(AT)
    octets.put(buffer, at, draw(TEXT | ELEMENT_SIZES.filter(lambda n: n < 4500).map(bytes)))
    return buffer, at


@st.composite
def integer_elements(draw: st.DrawFn) -> tuple[bytearray, int]:
    octets = importlib.import_module("storage.listpack.element_octets")
    buffer, at = draw(BUFFER), draw(AT)
    octets.put_int(buffer, at, draw(I64))
    return buffer, at


@st.composite
def string_elements(draw: st.DrawFn) -> tuple[bytearray, int]:
    octets = importlib.import_module("storage.listpack.element_octets")
    buffer, at, value = draw(strings())
    octets.put_string(buffer, at, value)
    return buffer, at


@st.composite
def intsets(draw: st.DrawFn) -> tuple[bytes, int, int]:
    """An intset, its width, and the index of one of its numbers."""
    width = draw(st.sampled_from([2, 4, 8]))
    numbers = draw(st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=5))
    body = b"".join(n.to_bytes(width, "little", signed=True) for n in sorted(numbers))
    data = width.to_bytes(4, "little") + len(numbers).to_bytes(4, "little") + body
    return data, width, draw(st.integers(0, len(numbers) - 1))


@st.composite
def after_backlens(draw: st.DrawFn) -> tuple[bytearray, int]:
    octets = importlib.import_module("storage.listpack.element_octets")
    buffer = draw(BUFFER)
    return buffer, octets.put_backlen(buffer, draw(AT), draw(ELEMENT_LENGTH))


@st.composite
def marks_of_keys(draw: st.DrawFn) -> tuple[bytearray, int]:
    """A bucket's marks sorted by prefix, and the number of one of them."""
    prefixes = sorted(draw(st.lists(U32 | st.integers(0, 9), min_size=1, max_size=9)))
    marks = b"".join(p.to_bytes(4, "little") + draw(DATA)[:4] for p in prefixes)
    return bytearray(marks), draw(st.integers(0, len(prefixes) - 1))


MARKS = marks_of_keys()


PACKED_SIZES = [0, 1, 2, 126, 127, 128, 129, 255, 256, 257, 510, 511, 512]
FAR_TEXTS = [b"f" * 512, None, b"g" * 600]
SOME_TEXTS = [
    *(b"t" * size for size in PACKED_SIZES),
    b"",
    b"T",
    b"f" * 512,
    b"g" * 600,
    b"g" * 512,
]


@st.composite
def packed_texts(draw: st.DrawFn, far: bool | None = None) -> tuple[bytearray, int]:
    """The data of a packed segment, and the offset of a text in it, which is far or not."""
    octets = importlib.import_module("storage.hash_table.packed_octets")
    data, at = bytearray(600), draw(AT)
    if draw(st.booleans()) if far is None else far:
        octets.put_far(data, at, draw(st.sampled_from([0, 2])))
    else:
        octets.put_text(data, at, draw(st.sampled_from(SOME_TEXTS).filter(lambda t: len(t) < 512)))
    return data, at


def is_equal_to_itself(numbers: bytes) -> bool:
    """Whether no number there is a NaN, in whichever order, and as whatever, its bytes are read."""
    read = [struct.unpack(order + kind, numbers) for order in "<>" for kind in ("ffff", "dd")]
    return all(number == number for number in sum(read, ()))


DOUBLES = st.floats(allow_nan=False)
LEAF_TEXTS = st.sampled_from([0, 1, 126, 127, 128, 129, 400]).map(lambda size: b"t" * size)


FRACTIONS = DOUBLES.filter(lambda value: not value.is_integer() and abs(value) < 2**62) | st.builds(
    lambda digits, scale: digits / 10**scale, I64, st.integers(1, 9)
).filter(lambda value: not value.is_integer())
REGISTERS = st.integers(0, 99).map(
    lambda seed: bytearray(random.Random(seed).choices(range(64), k=16384))
)
DENSE = st.integers(0, 99).map(lambda seed: bytearray(random.Random(seed).randbytes(16 + 12288)))


@st.composite
def score_marks(draw: st.DrawFn) -> tuple[bytearray, int]:
    """The marks of a leaf or branch, and the number of one; some tags are there twice."""
    marks = bytearray()
    count = draw(st.integers(1, 9))
    for at in range(count):
        marks += struct.pack("<dII", draw(DOUBLES), draw(st.integers(0, 3) | U32), at)
    return marks, draw(st.integers(0, count - 1))


@st.composite
def leaf_texts(draw: st.DrawFn) -> tuple[bytearray, int]:
    """A text as it is in the data of a leaf, and where it begins."""
    data = bytearray(600)
    at = draw(AT)
    score_octets.put_text(data, at, draw(LEAF_TEXTS))
    return data, at


@st.composite
def repeats(draw: st.DrawFn) -> tuple[bytearray, int, int, int, int]:
    """Arguments of raw.repeat: any distance back, and room for the copy or more."""
    to, size = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    return draw(BUFFER), to, draw(st.integers(1, to)), size, draw(st.integers(size, SIZE - to))


@st.composite
def place_marks(draw: st.DrawFn) -> tuple[bytearray, int, int]:
    """Marks of places, and the numbers of two; some distances are there twice."""
    count = draw(st.integers(1, 9))
    distances = st.sampled_from([0.0, 1.0]) | st.floats(0, 2e7)
    marks = b"".join(struct.pack("<ddq", draw(distances), draw(DOUBLES), n) for n in range(count))
    return bytearray(marks), draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))


RECORDS = st.tuples(
    st.lists(st.tuples(U64, U64, U64), min_size=1, max_size=9), st.integers(0, 8)
).map(lambda found: (
    bytearray(b"".join(struct.pack("<QQQ", *record) for record in found[0])),
    found[1] % len(found[0]),
))  # fmt: skip
SCORES = score_marks()
PLACES = place_marks()
PLACE = PLACES.map(lambda found: found[:2])
STEPS = st.integers(1, 26)
LONGITUDES = st.floats(-180, 180)
LATITUDES = st.floats(-85.05112878, 85.05112878)
DECIMALS = st.from_regex(rb"\A-?[0-9]{0,9}\.?[0-9]{0,9}\Z") | st.sampled_from(
    [b"13.361389", b"-0.5", b".5", b"5.", b"1.2.3", b"--1.0", b"1.5e3", b"-", b"."]
)
PLACE_SCORES = DOUBLES | st.integers(0, 2**54).map(float)

# The arguments for each function.
Cases = dict[str, st.SearchStrategy[Any]]
ANY_NUMBER = st.floats() | BITS.map(float)
WHOLE = st.integers(-(2**31), 2**31).map(float)
FOUR_OR_EIGHT = st.sampled_from([4, 8])
REALS = (
    st.tuples(st.floats(width=32), st.floats())
    .flatmap(lambda numbers: st.just(struct.pack("<ffd", numbers[0], numbers[0], numbers[1])))
    .filter(is_equal_to_itself)
)
JSON_LIKE = st.text('\0 \t\n"\\true0Ff', min_size=4).map(str.encode)
CASES: dict[str, Cases] = {
    "octets.buffers": {
        "cut": args(BUFFER, st.integers(0, 20), st.integers(20, SIZE)),
        "put": put(TEXT),
        "put_slice": SLICE,
        "move": args(BUFFER, AT, AT, LENGTH),
    },
    "protocol.wire": {
        "cut_bytes": args(DATA, st.integers(0, 20), st.integers(20, SIZE)),
        "join": args(DATA, st.integers(0, SIZE), st.binary(max_size=20).map(bytearray)),
        "put_natural": put(U64 | st.integers(0, 200)),
        "put_head": args(BUFFER, AT, U8, I64),
        "put_bulk": args(BUFFER, AT, st.binary(max_size=ROOM - 8)),
        "put_bulk_slice": SLICE,
        "put_bulk_number": put(I64),
        "put_fraction": args(BUFFER, AT, FRACTIONS, st.booleans()),
        "is_negative": args(DOUBLES | st.sampled_from([0.0, -0.0])),
        "decimal_size": args(I64),
        "find": args(st.binary(max_size=9), U8, st.just(0), st.integers(0, 12)),
        "starts_with": args(st.binary(max_size=9), st.just(0), st.binary(max_size=3)),
        "is_there": word_that_stands_there(),
        "has_word": words_of_which_one_stands_there(),
        "read_number": TEXT.flatmap(lambda t: st.tuples(st.just(t), st.just(0), st.just(len(t)))),
        "read_plain_head": args(
            st.builds(b"%b%b%b".__mod__, st.tuples(
                st.sampled_from([b"*", b"$", b"", b"\r\n"]), TEXT,
                st.sampled_from([b"\r\n", b"\r\nx", b"\r", b"\n", b""]),
            )),
            st.just(0), st.sampled_from(b"*$"),
        ),
        "plain_head_size": args(st.integers(0, 10**9)),
        "room_for": args(st.just([]), st.integers(1, 9)),
    },
    "storage.octets": {
        "bytearray_of": args(TEXT),
        "drop_front": args(BUFFER, LENGTH),
        "exact": args(BUFFER, LENGTH),
        "shorten": args(BUFFER, LENGTH),
        "holds": args(BUFFER.map(lambda b: b[:4] + bytearray(SIZE)), AT, st.binary(max_size=4)),
        **dict.fromkeys(("u16", "u32", "i16", "i24", "i32", "i64"), READ),
        **dict.fromkeys(("put_u8", "put_u16", "put_u24", "put_u32", "put_i64"), put(I64)),
        "u64_be": READ_BYTES,
        "mul_high": args(U64, U64),
        "swapped": args(U64),
        "is_int64": WHOLE_NUMBER,
        "short_number": WHOLE_NUMBER,
        "int64_of": args(I64.map(lambda n: b"%d" % n)),
        "decimal": args(I64),
        "same_letters": nearly_equal_words(),
        "format_id": args(U64, U64),
        "id_delta": args(U64, U64),
        "id_plus": args(U64, I64),
        "id_key": args(U64, U64),
        "since": args(I64, I64),
        "bit_length": args(U64 | st.integers(0, 2**9)),
    },
    "storage.listpack.element_octets": {
        "backlen_size": args(ELEMENT_LENGTH),
        "put_backlen": put(ELEMENT_LENGTH),
        "backlen_before": after_backlens(),
        "string_size": args(ELEMENT_LENGTH),
        "int_size": args(I64),
        "put_string": strings(),
        "put_int": put(I64),
        "most_bytes": args(ELEMENT_LENGTH),
        "put": put(TEXT) | strings(),
        "encoded_size": READ | elements(),
        "after": elements(),
        "short_size": READ | elements(),
        "is_string": READ | elements(),
        "number_at": integer_elements(),
        "head_size": string_elements(),
    },
    "storage.hash_table.mark_octets": {
        "prefix_of": args(TEXT),
        "count": MARKS.map(lambda found: found[:1]),
        "prefix_at": MARKS,
        "number_at": MARKS,
        "put_number": st.tuples(MARKS, U32).map(lambda pair: (*pair[0], pair[1])),
        "guess": st.tuples(MARKS, st.integers(0, 31), U32).map(
            lambda found: (found[0][0], *found[1:])
        ),
        "first_from": st.tuples(MARKS, U32 | st.integers(0, 9)).map(
            lambda found: (*found[0], found[1])
        ),
        "insert_mark": st.tuples(MARKS, U32, U32).map(lambda found: (*found[0], *found[1:])),
        "remove_mark": MARKS,
        "untracked": args(st.lists(U8, max_size=9)),
    },
    "storage.hash_table.packed_octets": {
        "space_of": args(st.sampled_from(PACKED_SIZES) | st.integers(0, 9999)),
        **dict.fromkeys(("is_far", "behind"), packed_texts()),
        "number_of": packed_texts(far=True),
        **dict.fromkeys(("start_of", "size_of"), packed_texts(far=False)),
        "put_text": args(
            st.just(bytearray(600)), AT, st.sampled_from(PACKED_SIZES[:-1]).map(lambda n: b"t" * n)
        ),
        "put_far": put(U32),
        "text_at": packed_texts().map(lambda found: (*found, FAR_TEXTS)),
        "is_text": st.tuples(packed_texts(), st.sampled_from(SOME_TEXTS)).map(
            lambda found: (*found[0], FAR_TEXTS, found[1])
        ),
        "list_room": args(st.none() | st.lists(st.just(b""), max_size=9)),
        "prefetch": args(BUFFER),
        "prefetch_all": args(st.none() | st.lists(st.binary(max_size=9), max_size=9)),
    },
    "storage.rdb.raw": {
        "cut": args(DATA, AT, LENGTH),
        "put": args(BUFFER, AT, DATA, AT, LENGTH),
        **dict.fromkeys(("u16", "u32", "u64", "i64", "u32_be", "u64_be"), READ_BYTES),
        "put_u32_be": put(U32),
        **dict.fromkeys(("put_u64_be", "put_u64"), put(U64)),
        "is_int32": I32_TEXT.map(lambda t: (t[:11], len(t[:11])))
        | TEXT.map(lambda t: (t[:11], len(t[:11]))),
        "int32_of": st.integers(-(2**31), 2**31 - 1).map(lambda n: (b"%d" % n, len(b"%d" % n))),
    },
    "storage.sets.intset_octets": {
        **dict.fromkeys(("width_of", "length_of"), intsets().map(lambda found: found[:1])),
        "number_at": intsets(),
        "inserted": st.tuples(intsets(), U16).map(
            lambda pair: (pair[0][0], min(8, pair[0][1] * 2), pair[0][2], pair[1] - 2**15)
        ),
        "without": intsets().map(lambda found: (found[0], found[2])),
    },
    "storage.sorted_sets.score_octets": {
        "count": SCORES.map(lambda found: found[:1]),
        **dict.fromkeys(("score_at", "tag_at", "place_at"), SCORES),
        "put_mark": st.tuples(SCORES, DOUBLES, U32, U32).map(lambda f: (*f[0], *f[1:])),
        "put_score": st.tuples(SCORES, DOUBLES).map(lambda f: (*f[0], f[1])),
        "put_place": st.tuples(SCORES, U32).map(lambda f: (*f[0], f[1])),
        "insert_mark": st.tuples(SCORES, DOUBLES, U32, U32).map(lambda f: (*f[0], *f[1:])),
        "remove_marks": st.tuples(SCORES, st.integers(0, 9)).map(
            lambda f: (*f[0], min(f[0][1] + f[1], len(f[0][0]) // 16))
        ),
        "find_tag": st.tuples(SCORES, st.integers(0, 3) | U32).map(lambda f: (*f[0], f[1])),
        "text_space": args(st.integers(0, 9999)),
        "put_text": args(st.just(bytearray(600)), AT, LEAF_TEXTS),
        **dict.fromkeys(("text_start", "text_size"), leaf_texts()),
        "order": st.tuples(leaf_texts(), LEAF_TEXTS | TEXT).map(lambda f: (*f[0], f[1])),
    },
    "storage.geo.geohash": {
        "spread": args(U32),
        "gathered": args(U64),
        "cell": args(U32, U32),
        "bits_of": args(PLACE_SCORES),
        "is_on_map": args(DOUBLES | LONGITUDES, DOUBLES | LATITUDES),
        "column_of": args(LONGITUDES, STEPS),
        "row_of": args(LATITUDES, STEPS),
        **dict.fromkeys(("west_of", "south_of"), args(st.integers(0, 2**26), STEPS)),
        "score_of": args(LONGITUDES, LATITUDES),
        **dict.fromkeys(("longitude_of", "latitude_of", "text_of"), args(PLACE_SCORES)),
        "degrees_text": args(LONGITUDES | st.sampled_from([1e-17, 5e-18, 1e-300, 2.5, 100.0])),
        "read_degrees": args(DECIMALS | TEXT),
    },
    "storage.geo.sphere": {
        "latitude_distance": args(LATITUDES, LATITUDES),
        "distance": args(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES),
        "degrees_north": args(st.floats(0, 1e7)),
        "degrees_east": args(st.floats(0, 1e7), st.floats(-170, 170)),
    },
    "server.parts.scripting.lua.libraries.number_octets": {
        **dict.fromkeys(("bits_of", "truncated", "wrapped", "is_single"), args(ANY_NUMBER)),
        "single": args(st.floats(allow_nan=False)),
        **dict.fromkeys(("signed_32", "signed_64"), args(U64)),
        "put_integer": args(BUFFER, AT, U64, st.integers(0, ROOM), st.booleans()),
        "put_real": args(BUFFER, AT, ANY_NUMBER, FOUR_OR_EIGHT, st.booleans()),
        "integer_at": args(DATA, AT, st.integers(0, ROOM), st.booleans()),
        "real_at": args(REALS, st.sampled_from([0, 8]), FOUR_OR_EIGHT, st.booleans()),
    },
    "server.parts.scripting.lua.libraries.text_octets": {
        "byte_at": args(DATA, st.integers(0, SIZE)),
        **dict.fromkeys(("blank_end", "plain_end"), args(JSON_LIKE, st.integers(0, 4))),
        "starts_with": args(JSON_LIKE, st.integers(0, 4), st.sampled_from([b"t", b"true", b"\\u"])),
        "hex_digit": args(JSON_LIKE, st.integers(0, 4)),
        "zero_at": args(JSON_LIKE, st.integers(0, 4)),
        "put_slice": args(BUFFER, AT, DATA, st.integers(0, 9), st.integers(9, ROOM)),
    },
    "storage.geo.place_marks": {
        "put": st.tuples(PLACE, DOUBLES, DOUBLES, I64).map(lambda f: (*f[0], *f[1:])),
        **dict.fromkeys(("distance_at", "score_at", "spot_at"), PLACE),
        **dict.fromkeys(("order", "swap"), PLACES),
        "copy": st.tuples(PLACE, PLACE, st.integers(0, 9)).map(
            lambda f: (*f[0], *f[1], min(f[2], *(len(m) // 24 - at for m, at in f[:2])))
        ),
        "distance_text": args(st.floats(0, 1e9) | st.sampled_from([0.0, 0.00005, 0.99995, 1e13])),
    },
    "storage.side_data.deadline_octets": {
        "resize": RECORDS,
        "put": st.tuples(RECORDS, U64, U64, U64).map(lambda found: (*found[0], *found[1:])),
        **dict.fromkeys(("deadline_at", "ms_at", "seq_at", "forget"), RECORDS),
    },
    "storage.strings.bit_octets": {
        "ones": args(DATA, AT, st.integers(SIZE - ROOM, SIZE)),
        "first_other": args(
            DATA | st.integers(0, SIZE).map(lambda n: bytes(n) + b"\xff" * (SIZE - n)),
            st.sampled_from([0, 255]), AT, st.integers(SIZE - ROOM, SIZE),
        ),
        **dict.fromkeys(("copy", "both", "either", "different"), args(BUFFER, AT, DATA, LENGTH)),
        "clear": args(BUFFER, AT, st.integers(SIZE - ROOM, SIZE)),
        "inverted": args(BUFFER, AT, LENGTH),
    },
    "storage.strings.register_octets": {
        "merge_dense": args(REGISTERS, DENSE),
        "write_dense": args(DENSE, REGISTERS),
        "tally": args(REGISTERS),
    },
    "storage.rax.branches": {
        "cut": args(DATA, st.integers(0, 20), st.integers(20, SIZE)),
        "shared": args(st.binary(max_size=5), DATA, AT),
        "is_rest": args(st.binary(max_size=3), st.binary(max_size=3), st.just(0)),
        "joined": args(TEXT, U8, TEXT),
    },
}  # fmt: skip

# Functions with undefined bytes, which have tests of their own below.
TESTED_BELOW = {
    "server.parts.scripting.lua.libraries.number_octets": {"put_decimal"},
    "server.parts.scripting.lua.libraries.text_octets": {"grow", "new_buffer"},
    "octets.buffers": {"make", "resize"},
    "storage.octets": {"capacity", "open_front"},
    "storage.rdb.raw": {"blank", "copy", "repeat"},
    "storage.rax.branches": {"order"},
}


def call_both(module: str, name: str, given_args: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """What each of both functions returns, and its arguments afterwards."""
    plain = getattr(importlib.import_module(module), name)
    compiled = getattr(extension(MODULES[module]), f"{module.replace('.', '_')}__{name}")
    for_plain, for_compiled = deepcopy(given_args), deepcopy(given_args)
    return plain(*for_plain), compiled(*for_compiled), for_plain, for_compiled


@pytest.mark.parametrize("module", MODULES)
def test_every_function_written_twice_is_compared(module: str) -> None:
    twins = {function.name for function in wrappers.inline_functions(module)}
    assert set(CASES[module]) | TESTED_BELOW.get(module, set()) == twins


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, cases in CASES.items() for name in cases]
)
def test_both_functions_have_the_same_effect(module: str, name: str) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(CASES[module][name])
    def compare(given_args: tuple[Any, ...]) -> None:
        expected, found, for_plain, for_compiled = call_both(module, name, given_args)
        assert for_compiled == for_plain
        if expected is not None:  # a C function without a result returns 0
            assert found == expected

    compare()


# ---------------------------------------------------------------------- undefined bytes


@given(BUFFER, AT, st.floats(allow_nan=False) | WHOLE, st.integers(1, 14))
def test_numbers_are_written_alike(buffer: bytearray, at: int, number: float, digits: int) -> None:
    plain, compiled, *changed = call_both(
        "server.parts.scripting.lua.libraries.number_octets",
        "put_decimal",
        (buffer, at, number, digits),
    )
    assert compiled == plain <= at + ROOM
    assert changed[1][0][:plain] == changed[0][0][:plain]


@given(BUFFER, st.integers(SIZE, 2 * SIZE))
def test_a_grown_buffer_of_a_library_keeps_its_bytes(buffer: bytearray, size: int) -> None:
    made = call_both("server.parts.scripting.lua.libraries.text_octets", "new_buffer", (size,))
    assert len(made[0]) == len(made[1]) == size
    _, _, *changed = call_both(
        "server.parts.scripting.lua.libraries.text_octets", "grow", (buffer, size)
    )
    for grown, _ in changed:
        assert (grown[:SIZE], len(grown)) == (buffer, size)


@given(st.integers(0, 2 * SIZE))
def test_a_buffer_that_is_made_has_its_size(size: int) -> None:
    plain, compiled, *_ = call_both("octets.buffers", "make", (size,))
    assert len(plain) == len(compiled) == size


@given(BUFFER, st.integers(0, 2 * SIZE))
def test_resize_keeps_the_bytes_that_fit(buffer: bytearray, size: int) -> None:
    _, _, *changed = call_both("octets.buffers", "resize", (buffer, size))
    for resized, _ in changed:
        assert (resized[:SIZE], len(resized)) == (buffer[:size], size)


@given(BUFFER, LENGTH, st.integers(0, SIZE), st.integers(0, 99))
def test_open_front_keeps_the_bytes_in_use(
    buffer: bytearray, dropped: int, used: int, size: int
) -> None:
    """With and without the spare room at the front that drop_front leaves."""
    used = min(used, SIZE - dropped)
    compiled = extension("storage_twins")
    plain = importlib.import_module("storage.octets")
    for drop_front, open_front in (
        (plain.drop_front, plain.open_front),
        (compiled.storage_octets__drop_front, compiled.storage_octets__open_front),
    ):
        opened = bytearray(buffer)
        drop_front(opened, dropped)
        open_front(opened, used, size)
        assert opened[size : size + used] == buffer[dropped : dropped + used]


@given(BUFFER)
def test_capacity_is_no_less_than_the_bytes_in_use(buffer: bytearray) -> None:
    plain, compiled, *_ = call_both("storage.octets", "capacity", (buffer,))
    assert min(plain, compiled) >= SIZE


@given(LENGTH)
def test_blank_has_the_given_size(size: int) -> None:
    plain, compiled, *_ = call_both("storage.rdb.raw", "blank", (size,))
    assert len(plain) == len(compiled) == size


# ---------------------------------------------------------------------- writes past the end


@given(BUFFER, DATA, st.integers(0, 16), st.integers(0, 16), st.integers(1, 24), st.integers(0, 8))
def test_copy_writes_the_slice_and_stays_within_the_room_left(
    out: bytearray, data: bytes, to: int, at: int, size: int, beyond: int
) -> None:
    left = min(size + beyond, SIZE - to, SIZE - at)
    _, _, *changed = call_both(
        "storage.rdb.raw", "copy", (out, to, data, at, min(size, left), left)
    )
    plain, compiled = (arguments[0] for arguments in changed)
    end = to + size
    assert compiled[:end] == plain[:end]
    assert compiled[to + left :] == plain[to + left :] == out[to + left :]


@given(repeats())
def test_repeat_writes_the_copy_and_stays_within_the_room_left(given_args: tuple[Any, ...]) -> None:
    out, to, _, size, left = given_args
    _, _, *changed = call_both("storage.rdb.raw", "repeat", given_args)
    plain, compiled = (arguments[0] for arguments in changed)
    assert compiled[: to + size] == plain[: to + size]
    assert compiled[to + left :] == plain[to + left :] == out[to + left :]


@given(st.binary(max_size=3), st.binary(max_size=3))
def test_order_has_the_same_sign(run: bytes, key: bytes) -> None:
    plain, compiled, *_ = call_both("storage.rax.branches", "order", (run, key, 0))
    assert (plain > 0, plain < 0) == (compiled > 0, compiled < 0)
