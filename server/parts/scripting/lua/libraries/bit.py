"""The library ``bit``, BitOp 1.0.2: operations on numbers as 32 bits. Results are signed.

An argument is any number: its fraction is rounded away, and of its bits the lowest 32 count.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import number_octets

HEX_DIGITS = 8


def install(L: lua.State) -> None:
    """Make the global table ``bit``."""
    lua.create_table(L, 0, 12)
    natives.set_native(L, b"tobit", tobit)
    natives.set_native(L, b"bnot", bnot)
    natives.set_native(L, b"band", band)
    natives.set_native(L, b"bor", bor)
    natives.set_native(L, b"bxor", bxor)
    natives.set_native(L, b"lshift", lshift)
    natives.set_native(L, b"rshift", rshift)
    natives.set_native(L, b"arshift", arshift)
    natives.set_native(L, b"rol", rol)
    natives.set_native(L, b"ror", ror)
    natives.set_native(L, b"bswap", bswap)
    natives.set_native(L, b"tohex", tohex)
    lua.set_field(L, lua.GLOBALS, b"bit")


# ---------------------------------------------------------------------- arguments and results


def _bits(L: lua.State, at: int) -> int:
    return number_octets.bits_of(lua.to_number(L, at))


def _is_number(L: lua.State, argument: int) -> bool:
    """Whether *argument* is a number. If it is not, that is reported."""
    if lua.is_number(L, argument):
        return True
    try:
        natives.wrong_type(L, argument, b"number")
    except Exception as error:
        natives.fail_unexpectedly(L, error)
    return False


def _are_numbers(L: lua.State, most: int) -> bool:
    """Whether arguments 1 and *most* down to 2 are numbers. If one is not, that is reported."""
    if not _is_number(L, 1):
        return False
    while most > 1:
        if not _is_number(L, most):
            return False
        most -= 1
    return True


def _give(L: lua.State, bits: int) -> int:
    """The result: the lowest 32 of *bits*, signed."""
    lua.push_number(L, number_octets.signed_32(bits))
    return 1


# ---------------------------------------------------------------------- functions


def tobit(L: lua.State) -> int:
    """tobit(x): *x* as all others see it."""
    return _give(L, _bits(L, 1)) if _are_numbers(L, 1) else -1


def bnot(L: lua.State) -> int:
    """bnot(x): each bit of *x* inverted."""
    return _give(L, ~_bits(L, 1)) if _are_numbers(L, 1) else -1


def band(L: lua.State) -> int:
    """band(x, ...): the bits that all have."""
    at = lua.top(L)
    if not _are_numbers(L, at):
        return -1
    bits = _bits(L, 1)
    while at > 1:
        bits &= _bits(L, at)
        at -= 1
    return _give(L, bits)


def bor(L: lua.State) -> int:
    """bor(x, ...): the bits that any has."""
    at = lua.top(L)
    if not _are_numbers(L, at):
        return -1
    bits = _bits(L, 1)
    while at > 1:
        bits |= _bits(L, at)
        at -= 1
    return _give(L, bits)


def bxor(L: lua.State) -> int:
    """bxor(x, ...): the bits that an odd number of them have."""
    at = lua.top(L)
    if not _are_numbers(L, at):
        return -1
    bits = _bits(L, 1)
    while at > 1:
        bits ^= _bits(L, at)
        at -= 1
    return _give(L, bits)


def lshift(L: lua.State) -> int:
    """lshift(x, n): *x* shifted left. As with all shifts, the lowest five bits of *n* count."""
    return _give(L, _bits(L, 1) << (_bits(L, 2) & 31)) if _are_numbers(L, 2) else -1


def rshift(L: lua.State) -> int:
    """rshift(x, n): shifted right, zeros coming in."""
    return _give(L, _bits(L, 1) >> (_bits(L, 2) & 31)) if _are_numbers(L, 2) else -1


def arshift(L: lua.State) -> int:
    """arshift(x, n): shifted right, copies of the sign coming in."""
    if not _are_numbers(L, 2):
        return -1
    bits = number_octets.signed_32(_bits(L, 1))
    return _give(L, bits >> (_bits(L, 2) & 31))


def rol(L: lua.State) -> int:
    """rol(x, n): rotated left."""
    if not _are_numbers(L, 2):
        return -1
    bits = _bits(L, 1)
    count = _bits(L, 2) & 31
    return _give(L, (bits << count) | (bits >> (32 - count)))


def ror(L: lua.State) -> int:
    """ror(x, n): rotated right."""
    if not _are_numbers(L, 2):
        return -1
    bits = _bits(L, 1)
    count = _bits(L, 2) & 31
    return _give(L, (bits << (32 - count)) | (bits >> count))


def bswap(L: lua.State) -> int:
    """bswap(x): the four bytes in reverse."""
    if not _are_numbers(L, 1):
        return -1
    bits = _bits(L, 1)
    middle = ((bits >> 8) & 0xFF00) | ((bits & 0xFF00) << 8)
    return _give(L, (bits >> 24) | middle | (bits << 24))


def tohex(L: lua.State) -> int:
    """tohex(x, [n]): the last *n* hexadecimal digits, at most eight; in capitals if *n* < 0."""
    try:
        count = HEX_DIGITS
        if not _is_number(L, 1):
            return -1
        if lua.type_at(L, 2) != -1:
            if not _is_number(L, 2):
                return -1
            count = number_octets.signed_32(_bits(L, 2))
        digits = b"%08X" % _bits(L, 1) if count < 0 else b"%08x" % _bits(L, 1)
        lua.push_bytes(L, digits[max(HEX_DIGITS - abs(count), 0) :])
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    return 1
