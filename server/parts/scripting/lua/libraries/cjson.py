"""The library ``cjson``, 2.1.0: values to and from JSON, null being a light userdata of 0."""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import cjson_options as options
from server.parts.scripting.lua.libraries import text_octets
from server.parts.scripting.lua.libraries.json_decoder import JsonDecoder
from server.parts.scripting.lua.libraries.json_encoder import JsonEncoder


def install(L: lua.State) -> None:
    """Make the global table ``cjson``."""
    _push_library(L)
    lua.set_field(L, lua.GLOBALS, b"cjson")


def _push_library(L: lua.State) -> None:
    options.push_defaults(L)
    at = lua.top(L)
    lua.create_table(L, 0, 14)
    options.set_bound(L, at, b"encode", encode)
    options.set_bound(L, at, b"decode", decode)
    options.install(L, at)
    natives.set_native(L, b"new", new)
    lua.push_address(L, 0)
    lua.set_field(L, -2, b"null")
    natives.set_text(L, b"_NAME", b"cjson")
    natives.set_text(L, b"_VERSION", b"2.1.0")
    lua.remove(L, at)


def new(L: lua.State) -> int:
    """new(): another library, with options of its own."""
    try:
        lua.set_top(L, 0)
        _push_library(L)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    return 1


def encode(L: lua.State) -> int:
    """encode(value): it as JSON."""
    try:
        if lua.top(L) != 1:
            return natives.bad_argument(L, 1, b"expected 1 argument")
        encoder = JsonEncoder()
        return -1 if encoder.write(L) < 0 else encoder.output.push()
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def decode(L: lua.State) -> int:
    """decode(text): the value that is written there."""
    try:
        if lua.top(L) != 1:
            return natives.bad_argument(L, 1, b"expected 1 argument")
        if not natives.is_string(L, 1):
            return natives.wrong_type(L, 1, b"string")
        text = lua.to_bytes(L, 1)
        if len(text) >= 2 and 0 in {text_octets.byte_at(text, 0), text_octets.byte_at(text, 1)}:
            return natives.fail(L, b"JSON parser does not support UTF-16 or UTF-32")
        decoder = JsonDecoder(text)
        return -1 if decoder.read(L) < 0 or decoder.read_end(L) < 0 else 1
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
