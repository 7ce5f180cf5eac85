"""What is encoded is decoded to the same value, and no input does harm."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compat.lua_values import quoted
from tests.server.parts.scripting.lua.interpreter import PRELUDE, Interpreter, new_interpreter
from tests.worth import rounds

KEYS = st.text(max_size=12)
# Without the negative zero, which neither literals of Lua nor MessagePack keep.
NUMBERS = st.integers(-(10**13), 10**13) | st.floats(-1e6, 1e6).map(
    lambda n: float(f"{n:.9g}") + 0.0
)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=40)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=6) | st.dictionaries(KEYS, inner, max_size=6)
    ),
    max_leaves=30,
)


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    return new_interpreter()


def run(interpreter: Interpreter, body: str) -> bytes:
    """What a script returns, which leaves nothing else on the stack."""
    result = interpreter.run(PRELUDE + body.encode())
    assert interpreter.depth() == 1
    return result


@settings(max_examples=rounds(300), deadline=None)
@given(value=JSON)
def test_json_is_the_same_after_decode_and_encode(interpreter: Interpreter, value: object) -> None:
    text = json.dumps(value).encode()
    encoded = run(interpreter, f"return cjson.encode(cjson.decode({quoted(text)}))")
    assert json.loads(encoded) == value


@settings(max_examples=rounds(300), deadline=None)
@given(value=JSON)
def test_a_value_is_the_same_after_pack_and_unpack(interpreter: Interpreter, value: object) -> None:
    body = f"""
        local function without_null(value)
            if value == cjson.null then return 1 end
            if type(value) ~= "table" then return value end
            for key, item in pairs(value) do value[key] = without_null(item) end
            return value
        end
        local value = without_null(cjson.decode({quoted(json.dumps(value).encode())}))
        return tostring(show(value) == show((cmsgpack.unpack(cmsgpack.pack(value)))))"""
    assert run(interpreter, body) == b"true"


@settings(max_examples=rounds(300), deadline=None)
@given(text=st.binary(max_size=300))
def test_any_text_is_decoded_or_refused(interpreter: Interpreter, text: bytes) -> None:
    result = run(
        interpreter, f"return try(function() return pass(cjson.decode({quoted(text)})) end)"
    )
    assert result.startswith((b"true ", b'false "user<95>script<58>'))


@settings(max_examples=rounds(300), deadline=None)
@given(data=st.binary(max_size=300))
def test_any_message_is_unpacked_or_refused(interpreter: Interpreter, data: bytes) -> None:
    result = run(
        interpreter, f"return try(function() return pass(cmsgpack.unpack({quoted(data)})) end)"
    )
    assert result.startswith((b"true", b'false "user<95>script<58>', b'false "table index is '))


@settings(max_examples=rounds(300), deadline=None)
@given(
    layout=st.text("<>!bBhHlLTiIfdscx 0123456789", max_size=12),
    data=st.binary(max_size=100),
    start=st.integers(-(2**66), 2**66) | st.integers(-5, 120),
)
def test_any_format_reads_within_the_data(
    interpreter: Interpreter, layout: str, data: bytes, start: int
) -> None:
    call = f'struct.unpack("{layout}", {quoted(data)}, {start})'
    result = run(interpreter, f"return try(function() return pass({call}) end)")
    assert result.startswith((b"true ", b'false "user<95>script<58>'))


@settings(max_examples=rounds(200), deadline=None)
@given(
    values=st.tuples(
        st.integers(-128, 127), st.integers(0, 65535), st.integers(-(2**31), 2**31 - 1),
        st.floats(width=32, allow_nan=False).map(lambda n: n + 0.0),
        st.floats(allow_nan=False).map(lambda n: n + 0.0),
    ),
    order=st.sampled_from("<>"),
)  # fmt: skip
def test_structs_are_laid_out_as_by_c(
    interpreter: Interpreter, values: tuple[float, ...], order: str
) -> None:
    literals = ", ".join(f"{value!r}".replace("inf", "1/0") for value in values)
    packed = run(interpreter, f'return struct.pack("{order}bHifd", {literals})')
    assert packed == struct.pack(f"{order}bHifd", *values)
