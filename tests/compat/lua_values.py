"""Random arguments for the libraries of Lua, as expressions: values, JSON, MessagePack, formats."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

NUMBERS = [
    "0", "-0", "1", "-1", "0.5", "-1.5", "1e15", "123456789012345678", "2^31", "-2^31", "2^32-1",
    "2^53", "2^63", "-2^63", "2^64", "1e100", "-1e100", "1e300", "1/0", "-1/0", "0/0", "-(0/0)",
    "127", "128", "255", "256", "65535", "65536", "-32", "-33", "-128", "-129", "-32769", "3.14",
    "1e-7", "0.1", "1e14", "99999999999999", "100000000000000", "4294967296.5", "2^51", "2^52+0.5",
]  # fmt: skip
CHARACTERS = [*map(chr, range(256)), *'"\\/abc\n\t'] + ["\0"] * 4
JSON_NUMBERS = [
    "0", "-0", "1", "-1", "10", "01", "1.5", "-1.5e3", "1e400", "-1e400", "0x1F", "0x.8p1", "0x",
    "1e", "1e+", ".5", "-.5", "+1", "inf", "-inf", "Infinity", "nan", "-nan", "NaN", "nan(12)",
    "infinit", "123456789012345678901234567890", "1.", "--1", "1e-400", "0.1",
]  # fmt: skip
ESCAPES = [
    "\\n", "\\/", "\\\\", '\\"', "\\b", "\\f", "\\r", "\\t", "\\u0041", "\\u00e9", "\\u20AC",
    "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\ud83d\\n", "\\ud83d\\u0041", "\\u12", "\\x", "\\",
    "\\u0000", "\\uFFFF",
]  # fmt: skip
SPOILS = [b"[", b"]", b"}", b",", b":", b'"', b"x", b"\0"]


class Draw:
    """Draws at random; the same for the same *seed*."""

    def __init__(self, seed: object) -> None:
        self.random = random.Random(str(seed))

    def number(self) -> str:
        """An expression whose value is a number."""
        kind = self.random.randrange(4)
        if kind == 0:
            return str(self.random.randint(-300, 300))
        if kind == 1:
            return repr(self.random.uniform(-1, 1) * 10 ** self.random.randint(-12, 20))
        if kind == 2:
            bits = self.random.randrange(65)
            return str(self.random.choice([1, -1]) * (2**bits + self.random.randint(-2, 2)))
        return self.random.choice(NUMBERS)

    def octets(self) -> bytes:
        size = self.random.choice([0, 1, 3, 8, 31, 32, 33, 255, 256, 300])
        return bytes(ord(self.random.choice(CHARACTERS)) for _ in range(size))

    def scalar(self) -> str:
        kind = self.random.randrange(8)
        if kind < 3:
            return f"({self.number()})"
        if kind < 6:
            return quoted(self.octets())
        return self.random.choice(["true", "false", "nil", "cjson.null", "cjson.encode"])

    def value(self, depth: int = 3) -> str:
        """An expression whose value may be a table."""
        if depth == 0 or self.random.random() < 0.3:
            return self.scalar()
        size = self.random.choice([0, 1, 2, 3, 5, 12, 20])
        if self.random.random() < 0.5:
            return f"{{{','.join(self.value(depth - 1) for _ in range(size // 2))}}}"
        keys = {self._key() for _ in range(size // 2)}
        items = ",".join(f"[{key}]={self.value(depth - 1)}" for key in sorted(keys))
        return f"{{{items}}}"

    def _key(self) -> str:
        if self.random.random() < 0.6:
            return str(self.random.randint(1, 9))
        # The order in which a table gives longer keys is not the same in all builds of Lua.
        key = self.random.choice([self.number(), quoted(self.octets()[:31]), "true"])
        return "1" if key in {"0/0", "-(0/0)"} else key

    def json(self, depth: int = 4) -> str:
        """JSON, or nearly."""
        kind = self.random.randrange(9 if depth else 5)
        blank = self.random.choice(["", "", "", " ", "\n\t\r "])
        if kind == 0:
            return blank + self.random.choice(JSON_NUMBERS)
        if kind < 3:
            pieces = [self.random.choice([*ESCAPES, "a", "\u00e9", " "]) for _ in range(4)]
            valid = [piece for piece in pieces if self.random.random() < 0.3 or "\\" not in piece]
            return f'{blank}"{"".join(valid)}"'
        if kind < 5:
            return blank + self.random.choice(["true", "false", "null", "7", '"k"'])
        items = [self.json(depth - 1) for _ in range(self.random.randrange(4))]
        if kind < 7:
            return f"{blank}[{','.join(items)}{blank}]"
        fields = ",".join(f'"k{at}"{blank}:{item}' for at, item in enumerate(items))
        return f"{blank}{{{fields}}}"

    def message(self, depth: int = 4) -> bytes:
        """MessagePack, or nearly."""
        kind = self.random.randrange(9 if depth else 6)
        size = self.random.randrange(4)
        if kind < 2:
            return bytes([self.random.randrange(256)])
        if kind == 2:
            mark = self.random.choice([0xCC, 0xD0, 0xCD, 0xD1, 0xCE, 0xD2, 0xCF, 0xD3, 0xCA, 0xCB])
            width = {0xCA: 4, 0xCB: 8}.get(mark, 1 << (mark & 3))
            return bytes([mark]) + self.random.randbytes(width)
        if kind < 5:
            head = self.random.choice(
                [bytes([0xA0 + size]), bytes([0xD9, size]), bytes([0xDA, 0, size]),
                 bytes([0xDB, 0, 0, 0, size])]
            )  # fmt: skip
            return head + self.random.randbytes(size)
        if kind == 5:
            return self.random.choice([b"\xc0", b"\xc2", b"\xc3", struct.pack(">Bd", 0xCB, 1.5)])
        array = self.random.random() < 0.5
        head = self.random.choice(
            [bytes([(0x90 if array else 0x80) + size]), bytes([0xDC if array else 0xDE, 0, size]),
             bytes([0xDD if array else 0xDF, 0, 0, 0, size])]
        )  # fmt: skip
        return head + b"".join(self.message(depth - 1) for _ in range(size if array else 2 * size))

    def layout(self) -> str:
        """A format of struct."""
        options = [
            "b", "B", "h", "H", "l", "L", "T", "i", "I", "i3", "i5", "I7", "i8", "i9", "i16",
            "I32", "i33", "i0", "f", "d", "s", "c0", "c1", "c3", "c", "x", " ", "<", ">", "!",
            "!2", "!4", "!16", "!3", "!0", "bc0", "z", "=", "i99999999999", "c2147483647",
        ]  # fmt: skip
        return "".join(self.random.choice(options) for _ in range(self.random.randint(0, 6)))

    def spoiled(self, text: bytes) -> bytes:
        """*text*, mostly with a change somewhere."""
        if not text or self.random.random() < 0.4:
            return text
        at = self.random.randrange(len(text))
        change: Callable[[], bytes] = self.random.choice([
            lambda: text[:at],
            lambda: text[:at] + text[at + 1 :],
            lambda: text[:at] + self.random.choice(SPOILS) + text[at:],
            lambda: text[:at] + self.random.randbytes(1) + text[at + 1 :],
        ])  # fmt: skip
        return change()


def quoted(octets: bytes) -> str:
    """A literal of Lua for these bytes."""
    digits = "".join(f"\\{octet:03}" for octet in octets)
    return f'"{digits}"'
