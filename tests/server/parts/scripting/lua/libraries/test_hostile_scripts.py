"""What a hostile script may try with the libraries; most have harmed Redis once."""

from __future__ import annotations

import pytest

from tests.server.parts.scripting.lua.interpreter import COMPILED, PRELUDE, new_interpreter


def result(body: str, limit: int = 1 << 30) -> bytes:
    """What the script returns, or its error."""
    return new_interpreter(limit).run(PRELUDE + body.encode())


def refusal(expression: str, limit: int = 1 << 30) -> str:
    """The error that the expression throws, without the place."""
    body = f"""local done, reason = pcall(function() return pass({expression}) end)
        assert(not done)
        return (reason:gsub("^user_script:%d+: ", ""))"""
    return result(body, limit).decode()


def test_cve_2018_12326_a_size_in_a_format_does_not_overflow() -> None:
    """And CVE-2020-14147: it was read into an int of C, and wrapped around."""
    for size in (2**31, 2**32, 2**32 + 1, 2**64, 10**40):
        assert refusal(f'struct.pack("i{size}", 1)') == "integral size overflow"
        assert refusal(f'struct.unpack("c{size}", "a")') == "integral size overflow"
        assert refusal(f'struct.size("!{size}")') == "integral size overflow"
    assert refusal('struct.unpack("c2147483647", "a")').endswith("(data string too short)")


def test_cve_2018_11219_an_integer_has_at_most_32_bytes() -> None:
    assert refusal('struct.pack("i33", 1)') == "integral size 33 is larger than limit of 32"
    assert result('return struct.pack(">i32", 1)') == bytes(31) + b"\1"


@pytest.mark.parametrize("start", ["-1", "-2^62", "2^63", "2^64", "1e300", "-1e300"])
def test_no_start_lies_outside_of_the_data(start: str) -> None:
    assert refusal(f'struct.unpack("b", "abc", {start})').endswith("(data string too short)")


def test_a_length_that_was_read_is_within_the_data() -> None:
    for size in ("-1", "9", "2^63", "-1/0", "0/0"):
        call = f'struct.unpack("dc0", struct.pack("d", {size}))'
        assert refusal(call).endswith("(data string too short)")


def test_cve_2018_11218_a_message_has_as_many_values_as_the_stack_has_room_for() -> None:
    many = (
        "stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)"
    )
    assert refusal(r'cmsgpack.unpack(string.rep("\1", 9000))') == many
    assert refusal(r'cmsgpack.unpack(string.rep("\129", 1000000))') == many
    assert "in function mp_decode_to_lua_array" in refusal(
        r'cmsgpack.unpack(string.rep("\145", 1000000))'
    )


def test_a_count_reserves_no_memory() -> None:
    for head in (r"\221\255\255\255\255", r"\223\255\255\255\255", r"\219\255\255\255\255"):
        call = f'cmsgpack.unpack(string.rep("{head}", 100))'
        assert refusal(call, limit=4 << 20) == "Missing bytes in input."


def test_cve_2022_24834_a_long_string_is_escaped_within_its_buffer() -> None:
    """Each byte of these becomes six."""
    for size in (1023, 1024, 1025, 100_000):
        encoded = result(f'return cjson.encode(string.rep("\\1", {size}))')
        assert encoded == b'"' + b"\\u0001" * size + b'"'


def test_a_table_in_itself_is_refused() -> None:
    loop = "(function() local t = {} t[1] = t return t end)()"
    assert refusal(f"cjson.encode({loop})") == "Cannot serialise, excessive nesting (1001)"
    assert result(f"return cmsgpack.pack({loop})") == b"\x91" * 16 + b"\xc0"


def test_nesting_beyond_the_stack_is_refused_whatever_the_option_says() -> None:
    raised = "cjson.encode_max_depth(2^31 - 1), cjson.decode_max_depth(2^31 - 1)"
    loop = "(function() local t = {} t[1] = t return t end)()"
    assert "excessive nesting" in refusal(f"{raised}, cjson.encode({loop})")
    assert "too many nested" in refusal(f'{raised}, cjson.decode(string.rep("[", 1000000))')


@pytest.mark.skipif(not COMPILED, reason="only the compiled server keeps to the limit")
def test_a_small_table_does_not_become_an_endless_text() -> None:
    tree = """(function()
        local t = {"some words"} for i = 1, 60 do t = {t, t} end return t end)()"""
    assert refusal(f"cjson.encode({tree})", limit=16 << 20) == "not enough memory"
    wide = """(function()
        local t = {"some words"} for i = 1, 15 do t = {t, t, t, t, t, t} end return t end)()"""
    assert refusal(f"cmsgpack.pack({wide})", limit=16 << 20) == "not enough memory"


@pytest.mark.skipif(not COMPILED, reason="only the compiled server keeps to the limit")
def test_what_is_decoded_counts_for_the_memory_of_scripts() -> None:
    limit = 16 << 20
    assert refusal('cjson.decode("[" .. string.rep("{},", 1000000) .. "1]")', limit) == (
        "not enough memory"
    )
    assert refusal(r'cmsgpack.unpack("\221\0\15\0\0" .. string.rep("\144", 1000000))', limit) == (
        "not enough memory"
    )
    assert refusal('cjson.encode({string.rep("\\1", 6000000)})', limit) == "not enough memory"


def test_cve_2024_31449_the_smallest_number_of_digits() -> None:
    """It was negated, and bytes beyond the eight were written."""
    for count in ("-2^31", "-2^31 + 1", "2^31 - 1", "2^31", "-9", "9"):
        assert result(f"return bit.tohex(-1, {count})").lower() == b"ffffffff"
    assert result("return bit.tohex(-1, 0)") == b""


def test_options_of_one_library_are_not_those_of_another() -> None:
    body = """local other = cjson.new()
        other.encode_max_depth(7)
        return show(cjson.encode_max_depth(), other.encode_max_depth())"""
    assert result(body) == b"1000 7"


def test_libraries_are_collected_with_their_options() -> None:
    body = """collectgarbage() local before = collectgarbage("count")
        for i = 1, 1000 do cjson.new() end
        collectgarbage() return show(collectgarbage("count") - before < 10)"""
    assert result(body) == b"true"


@pytest.mark.skipif(not COMPILED, reason="a tail call hides the name from the plain version")
def test_an_error_in_a_tail_call_has_name_and_line() -> None:
    body = "local done, reason = pcall(function()\nreturn cjson.decode(nil) end) return reason"
    line = PRELUDE.count(b"\n") + 2
    expected = b"bad argument #1 to 'decode' (string expected, got nil)"
    assert result(body) == b"user_script:%d: %b" % (line, expected)
