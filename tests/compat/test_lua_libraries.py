"""The libraries of Lua answer as those of real servers, word for word.

Each script runs in a bare interpreter with our libraries, and by EVAL. PENSTOCK_LUA_VALUES is
how many random values each function gets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.compat.connection import Connection
from tests.compat.lua_values import Draw, quoted
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.server.parts.scripting.lua.interpreter import COMPILED, new_interpreter, tried
from tests.worth import rounds

VALUES = int(os.environ.get("PENSTOCK_LUA_VALUES", rounds(1500)))
BATCH = 150
IN_8_6 = (  # what show(cjson) says of the function that came with 8.6
    b"<34>decode<60>95<62>array<60>95<62>with<60>95<62>array<60>95<62>mt<34><61>function<44>"
)
NEST = "(function(n) local d = {} for i = 2, n do d = {d} end return d end)"

CJSON = r"""
cjson.encode()
cjson.encode(1, 2)
cjson.encode(nil)
cjson.encode({})
cjson.encode({{}, {1}, {a = {}}})
cjson.encode({1, 2, 3, nil, 5})
cjson.encode({[1] = 1, [10] = 2})
cjson.encode({[1] = 1, [11] = 2})
cjson.encode({[0] = 1})
cjson.encode({[1.5] = 1, [-1] = 2})
cjson.encode({[1e10] = 1})
cjson.encode({[2] = 2, [3e9] = 1})
cjson.encode({[true] = 1})
cjson.encode({[{}] = 1})
cjson.encode(cjson.encode)
cjson.encode({cjson})
cjson.encode(0/0)
cjson.encode({1/0})
cjson.encode("\0\1\8\9\10\11\12\13\27\31 !\"/\\\127\128\255")
cjson.encode(string.rep("\1/a", 1000))
cjson.encode(cjson.null)
cjson.encode(NEST(1000))
cjson.encode(NEST(1001))
cjson.encode({-0, 1e13, 1e14, 1e15, 123456789012345, 0.1, 1/3, 1e-5, 1e100, -999999999})
cjson:encode(1)
cjson.decode()
cjson.decode("1", 2)
cjson.decode(nil)
cjson.decode({})
cjson.decode(true)
cjson.decode(cjson.null)
cjson.decode(12)
cjson.decode("")
cjson.decode("  ")
cjson.decode("\0")
cjson.decode("1\0x")
cjson.decode("1\0")
cjson.decode("\0001")
cjson.decode("{\"a\":}")
cjson.decode("{\"a\" 1}")
cjson.decode("{1:2}")
cjson.decode("{\"a\":1,}")
cjson.decode("{\"a\":1 \"b\":2}")
cjson.decode("{,}")
cjson.decode("[1,2")
cjson.decode("[1 2]")
cjson.decode("[1,]")
cjson.decode("[}")
cjson.decode("nope")
cjson.decode("nul")
cjson.decode("truex")
cjson.decode("1 2")
cjson.decode("\"a\\x\"")
cjson.decode("\"abc")
cjson.decode("\"a\0b\"")
cjson.decode("\"\\ud800x\"")
cjson.decode("\"\\ud83d\\ude00\\u0000\"")
cjson.decode("{\"\":{\"\":null}}")
cjson.decode(string.rep("[", 1000) .. string.rep("]", 1000))
cjson.decode(string.rep("[", 1001))
cjson.decode(string.rep("{\"a\":", 1001))
cjson.encode_max_depth()
cjson.encode_max_depth("x")
cjson.encode_max_depth({})
cjson.encode_max_depth(0)
cjson.encode_max_depth(2^31)
cjson.encode_max_depth(2^32 + 5)
cjson.encode_max_depth(1, 2)
cjson:encode_max_depth(1)
cjson.encode_max_depth("17")
cjson.encode(NEST(18))
cjson.encode_max_depth(1000000)
cjson.encode(NEST(2600))
cjson.encode(NEST(7900)):len()
cjson.encode(NEST(8100))
cjson.decode_max_depth(3)
cjson.decode("[[[1]]]")
cjson.decode("[[[[1]]]]")
cjson.decode_max_depth(100000)
cjson.decode(string.rep("[", 9000))
cjson.decode(string.rep("{\"a\":", 9000))
cjson.decode_max_depth(-1)
cjson.encode_number_precision(3)
cjson.encode({1234.5, 10, 12345, -1})
cjson.encode_number_precision(15)
cjson.encode_number_precision(nil)
cjson.encode_keep_buffer("foo")
cjson.encode_keep_buffer("on")
cjson.encode_keep_buffer(false)
cjson.encode_keep_buffer(1)
cjson.encode_keep_buffer({})
cjson.encode_invalid_numbers("null")
cjson.encode({0/0, 1/0})
cjson.encode_invalid_numbers(true)
cjson.encode({0/0, -(0/0), 1/0, -1/0})
cjson.encode_invalid_numbers("off")
cjson.encode_invalid_numbers("on\0x")
cjson.encode_invalid_numbers("1")
cjson.decode_invalid_numbers(false)
cjson.decode("01")
cjson.decode("0x1")
cjson.decode("-inf")
cjson.decode("nan")
cjson.decode("+1")
cjson.decode("-01")
cjson.decode("-x")
cjson.decode("-")
cjson.decode("[1e400,-0]")
cjson.decode_invalid_numbers("null")
cjson.encode_sparse_array(true, 3, 4, 5)
cjson.encode_sparse_array(true, -3)
cjson.encode_sparse_array()
cjson.encode({[1] = 1, [100] = 2})
cjson.encode_sparse_array(false, 0, 1)
cjson.encode({[1] = 1, [30] = 2})
cjson.encode_sparse_array("on", 1)
cjson.encode({[3] = 1})
cjson.encode_sparse_array(nil, nil, -3)
cjson.encode_sparse_array({}, 1)
cjson.encode_sparse_array(nil, "x")
cjson.new(1, 2).encode_max_depth()
cjson.new().new().decode("[1]")
show(cjson)
tostring(cjson.null)
pcall(cjson.encode)
pcall(cjson.decode, nil)
pcall(cjson.decode, "[")
pcall(cjson.encode_max_depth, "x")
select(2, coroutine.resume(coroutine.create(function() return (cjson.decode("[")) end)))
coroutine.wrap(function() return (cjson.encode({1, {}})) end)()
"""

CMSGPACK = r"""
cmsgpack.pack()
cmsgpack.pack(nil)
cmsgpack.pack(1, "a", {}, {1, 2}, {a = 1})
cmsgpack.pack(cmsgpack.pack, cjson.null)
cmsgpack.pack({1, 2, nil, 4}, {[2] = 1}, {[1.5] = 1}, {[0] = 1}, {[2^31] = 1})
cmsgpack.pack(NEST(16))
cmsgpack.pack(NEST(17))
cmsgpack.pack(NEST(100))
cmsgpack.pack(unpack({}, 1, 3900)):len()
cmsgpack.pack(unpack({}, 1, 5000))
cmsgpack.pack(string.rep("a", 31), string.rep("a", 32), string.rep("a", 255))
cmsgpack.pack(string.rep("a", 256)):sub(1, 9)
cmsgpack.pack(string.rep("a", 65535)):sub(1, 9)
cmsgpack.pack(string.rep("a", 65536)):sub(1, 9)
cmsgpack.unpack()
cmsgpack.unpack(nil)
cmsgpack.unpack({})
cmsgpack.unpack("")
cmsgpack.unpack(12)
cmsgpack.unpack("\255\193")
cmsgpack.unpack("\145")
cmsgpack.unpack("\129\192\1")
cmsgpack.unpack("\129\192")
cmsgpack.unpack("\129\203\127\248\0\0\0\0\0\0\1")
cmsgpack.unpack("\129\1\192")
cmsgpack.unpack("\147\1\192\3")
cmsgpack.unpack("\221\255\255\255\255")
cmsgpack.unpack("\223\255\255\255\255\1")
cmsgpack.unpack("\219\255\255\255\255a")
cmsgpack.unpack("\220\0")
cmsgpack.unpack("\212\1\1")
cmsgpack.unpack("\207\255\255\255\255\255\255\255\255\211\255\255\255\255\255\255\255\254")
cmsgpack.unpack(string.rep("\145", 3000) .. "\1")
cmsgpack.unpack(string.rep("\145", 9000))
cmsgpack.unpack(string.rep("\129", 9000))
cmsgpack.unpack(string.rep("\129\1", 9000))
cmsgpack.unpack(string.rep("\1", 9000))
cmsgpack.unpack_one("")
cmsgpack.unpack_one("", 1)
cmsgpack.unpack_one("a", -1)
cmsgpack.unpack_one("abc", 2^32 + 1)
cmsgpack.unpack_one("abc", 1)
cmsgpack.unpack_one("abc", 2)
cmsgpack.unpack_one("abc", 3)
cmsgpack.unpack_one("abc", "1")
cmsgpack.unpack_one("abc", "x")
cmsgpack.unpack_one("abc", nil)
cmsgpack.unpack_one()
cmsgpack.unpack_one({})
cmsgpack.unpack_limit("abc")
cmsgpack.unpack_limit("abc", 2)
cmsgpack.unpack_limit("abc", 2, 1)
cmsgpack.unpack_limit("abc", 2, {})
cmsgpack.unpack_limit("abc", 0, 0)
cmsgpack.unpack_limit("abc", 0, 1)
cmsgpack.unpack_limit("abc", -1)
cmsgpack.unpack_limit("abc", 9, 3)
cmsgpack.unpack_limit("a\145", 9)
cmsgpack:unpack()
show(cmsgpack)
"""

STRUCT = r"""
struct.pack()
struct.pack({})
struct.pack("")
struct.pack("z", 1)
struct.pack("\200", 1)
struct.pack("b\0z", 1)
struct.pack("i3", 1)
struct.pack("i64", 1)
struct.pack("i32I16>i16", -1, -1, -2)
struct.pack("i0", 1)
struct.pack("i99999999999", 1)
struct.pack("i2147483647", 1)
struct.pack("i2147483648", 1)
struct.pack("!3")
struct.pack("!0")
struct.pack("!4294967297 bd", 1, 2)
struct.pack("!1073741824bd", 1, 2)
struct.pack("!bdhl", 1, 2, 3, 4)
struct.pack("!32bi32", 1, 2)
struct.pack("!bi3bi5bi7", 1, 2, 3, 4, 5, 6)
struct.pack("b")
struct.pack("b", "x")
struct.pack("b", {})
struct.pack("bb", "7")
struct.pack("d", "x")
struct.pack("d", "1.5")
struct.pack("c5", "x")
struct.pack("c2", 12345)
struct.pack("c0c", "xyz", "")
struct.pack("c", true)
struct.pack("s", "x\0y")
struct.pack("s")
struct.pack("<h>h<i>i", 1, 2, 3, 4)
struct.pack("fd>fd", 1.1, 1.1, -1/0, 1e300)
struct.pack("lLlL", 2^63, 2^63, -2^63, 2^64)
struct.pack("LLLL", 2^64 + 1e5, 1/0, -1/0, -1)
struct.pack("L", 0/0)
struct.pack("f", 1e300)
struct.size()
struct.size("")
struct.size("s")
struct.size("c0")
struct.size("!bdc7hd")
struct.size("c2147483647c2147483647")
struct.size("c9999999999999999999999")
struct.size("c2147483648")
struct.size("z")
struct.size("bT=")
struct.size("!7")
struct.size("i33")
struct.unpack("b")
struct.unpack({}, "a")
struct.unpack("b", {})
struct.unpack("b", "")
struct.unpack("", "abc")
struct.unpack("", "abc", 9)
struct.unpack("b", "abc", 0)
struct.unpack("b", "abc", -1)
struct.unpack("!8l", "abcdefgh", -1)
struct.unpack("b", "abc", "2")
struct.unpack("b", "abc", {})
struct.unpack("b", "abc", nil)
struct.unpack("b", "abc", 3)
struct.unpack("b", "abc", 4)
struct.unpack("b", "abc", 2^63)
struct.unpack("=", "abc", 9)
struct.unpack("c0", "abc")
struct.unpack("bc0", "\2abc")
struct.unpack("bc0", "\9abc")
struct.unpack("bc0", "\255abc")
struct.unpack("sc0", "2\0abc")
struct.unpack("sc0", "x\0abc")
struct.unpack("dc0", struct.pack("d", 0/0))
struct.unpack("dc0", struct.pack("d", 2^64))
struct.unpack("s", "abc")
struct.unpack("sb", "abc\0d")
struct.unpack("s", "abc", 4)
struct.unpack("c2147483647", "abc")
struct.unpack("xbx", "abc")
struct.unpack(string.rep("b", 9000), string.rep("b", 9000))
struct.unpack("i9", "\255\0\0\0\0\0\0\0\0")
struct.unpack("i16", string.rep("\255", 16))
struct.unpack("I32", string.rep("\255", 32))
struct.unpack("i0", "")
struct.unpack("i3>i3", "\255\255\255\255\255\254")
struct:pack()
show(struct)
"""

BIT = r"""
bit.tobit()
bit.tobit("x")
bit.tobit("0x10")
bit.tobit({})
bit.band(1, {})
bit.band(1, {}, nil)
bit.band({}, {})
bit.bor()
bit.bxor(1, 2, "3", 4)
bit.lshift(1)
bit.lshift({}, {})
bit.rol(0x12345678, 0)
bit.ror(0x12345678, 32)
bit.tohex()
bit.tohex(1, {})
bit.tohex(1, nil)
bit.tohex(1, 0)
bit.tohex(-1, 9)
bit.tohex(255, -3)
bit.tohex(-1, -2147483648)
bit.tohex(0xABCDEF, 2147483647)
bit.tohex(0/0)
bit.tobit(0/0)
bit.tobit(1/0)
bit.tobit(2^51 + 2^31)
bit:tobit()
show(bit)
"""


def lines(text: str) -> list[bytes]:
    """The expressions of a text, one in each line."""
    return [line.replace("NEST", NEST).encode() for line in text.strip().splitlines()]


@pytest.fixture(params=[REDIS_7, REDIS_8, REDIS_8_6])
def server(request: pytest.FixtureRequest, oracles: Oracles) -> Iterator[Connection]:
    """A real server."""
    connection = Connection(oracles.start(request.param).port)
    yield connection
    connection.close()


def compare(server: Connection, expressions: list[bytes]) -> None:
    """Each expression has the same result here and there, in the same order of evaluation."""
    interpreter = new_interpreter()
    for start in range(0, len(expressions), BATCH):
        batch = expressions[start : start + BATCH]
        script = tried(batch)
        kind, theirs = server.call(b"EVAL", script, b"0")
        assert kind == "$", theirs
        assert isinstance(theirs, bytes)
        ours = interpreter.run(script)
        for expression, our, their in zip(
            batch, ours.split(b"\n"), theirs.split(b"\n"), strict=True
        ):
            assert our.replace(IN_8_6, b"") == their.replace(IN_8_6, b""), expression


@pytest.mark.parametrize(
    "text", [CJSON, CMSGPACK, STRUCT, BIT], ids=["cjson", "cmsgpack", "struct", "bit"]
)
def test_results_and_errors_are_the_same(text: str, server: Connection) -> None:
    expressions = lines(text)
    assert len(expressions) <= BATCH  # one script: options that one line sets hold for the next
    compare(server, expressions)


@pytest.mark.skipif(not COMPILED, reason="a tail call hides the name from the plain version")
@pytest.mark.parametrize(
    "call",
    ["cjson.decode(nil)", "cjson.decode('[')", "cjson:encode(1)", "cmsgpack.pack()", "bit.bor()",
     "struct.pack('z')"],
)  # fmt: skip
def test_errors_in_tail_calls_are_the_same(call: str, server: Connection) -> None:
    compare(server, [f"(function() return {call} end)()".encode()])


def test_values_are_encoded_as_the_same_json(server: Connection) -> None:
    draw = Draw("encode")
    compare(server, [f"cjson.encode({draw.value()})".encode() for _ in range(VALUES)])


def test_json_is_decoded_to_the_same_values(server: Connection) -> None:
    draw = Draw("decode")
    texts = [draw.spoiled(draw.json().encode()) for _ in range(VALUES)]
    compare(server, [f"cjson.decode({quoted(text)})".encode() for text in texts])


def test_json_with_strict_numbers_is_decoded_to_the_same_values(server: Connection) -> None:
    draw = Draw("strict")
    texts = [draw.spoiled(draw.json(1).encode()) for _ in range(VALUES // 3)]
    strict = "cjson.decode_invalid_numbers(false), cjson.decode"
    compare(server, [f"{strict}({quoted(text)})".encode() for text in texts])


def test_values_are_packed_the_same(server: Connection) -> None:
    draw = Draw("pack")
    compare(
        server, [f"cmsgpack.pack({draw.value()}, {draw.value()})".encode() for _ in range(VALUES)]
    )


def test_messages_are_unpacked_to_the_same_values(server: Connection) -> None:
    draw = Draw("unpack")
    messages = [draw.spoiled(draw.message() + draw.message()) for _ in range(VALUES)]
    compare(server, [f"cmsgpack.unpack({quoted(message)})".encode() for message in messages])


def test_parts_of_messages_are_unpacked_to_the_same_values(server: Connection) -> None:
    draw = Draw("limits")
    calls = []
    for _ in range(VALUES // 3):
        message = quoted(b"".join(draw.message() for _ in range(3)))
        limit, offset = draw.random.randint(-1, 4), draw.random.randint(-1, 4)
        calls += [f"cmsgpack.unpack_limit({message}, {limit}, {offset})".encode()]
        calls += [f"cmsgpack.unpack_one({message}, {offset})".encode()]
    compare(server, calls)


def test_structs_are_packed_the_same(server: Connection) -> None:
    draw = Draw("structs")
    calls = []
    for _ in range(VALUES):
        layout = quoted(draw.layout().encode())
        values = ", ".join([layout, *(draw.scalar() for _ in range(5))])
        calls += [f"struct.pack({values})".encode(), f"struct.size({layout})".encode()]
    compare(server, calls)


def test_structs_are_unpacked_to_the_same_values(server: Connection) -> None:
    draw = Draw("unpack structs")
    calls = []
    for _ in range(VALUES):
        data = quoted(draw.random.randbytes(draw.random.choice([0, 1, 7, 40, 100])))
        start = draw.random.choice(["1", "1", "1", "3", "0", "-1", "-7", "nil", "2.7", "1e300"])
        layout = quoted(draw.layout().encode())
        calls.append(f"struct.unpack({layout}, {data}, {start})".encode())
    compare(server, calls)


@pytest.mark.parametrize(
    "name",
    ["tobit", "bnot", "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "bswap",
     "tohex"],
)  # fmt: skip
def test_bits_are_the_same(name: str, server: Connection) -> None:
    draw = Draw(name)
    compare(
        server,
        [f"bit.{name}({draw.number()}, {draw.number()})".encode() for _ in range(VALUES // 5)],
    )
