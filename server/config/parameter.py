"""What a configuration parameter is, and the kinds of values there are.

A kind reads a value from text, shows it as CONFIG GET does, and writes it as redis.conf has it.
Three forms of one value:

    CONFIG SET maxmemory 1gb      read:   1gb           -> 1073741824
    CONFIG GET maxmemory          shown:  1073741824
    redis.conf                    written: maxmemory 1gb
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from storage.side_data.stream_policy import WORDS as POLICY_WORDS
from storage.side_data.stream_policy import StreamPolicy

UINT32 = 2**32 - 1
INT32 = 2**31 - 1
INT64 = 2**63 - 1
UINT64 = 2**64 - 1

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_BYTES = re.compile(r"([0-9]*)(b|k|kb|m|mb|g|gb)?", re.IGNORECASE)
_OCTAL = re.compile(r"[0-7]{1,11}")

_UNITS = {"": 1, "b": 1, "k": 1000, "kb": 1024, "m": 1000**2, "mb": 1024**2, "g": 1000**3,
          "gb": 1024**3}  # fmt: skip


T = TypeVar("T")

MAX_NUMBER_TEXT = 64  # characters; no number has more


class BadValue(Exception):
    """The text is not a valid value for the parameter; the message is for the user."""


class Missing(BadValue):
    """The value would switch on a feature that is missing; the message names it."""


class OutputLimit(NamedTuple):
    """client-output-buffer-limit of one class of clients: bytes, bytes, seconds."""

    hard: int
    soft: int
    soft_seconds: int


class Kind(NamedTuple, Generic[T]):
    """How a value is read, shown and written: *parse* raises BadValue.

    *write* returns the values for redis.conf, one a line; by default one line with what *show*
    returns. With *many_words* a line may hold any number of words, and none means an empty value.
    With *cumulative* a parameter may have several lines, which add up.
    """

    parse: Callable[[str, T], T]  # (text, present value) -> value
    show: Callable[[T], str] = str
    write: Callable[[T], list[str]] | None = None
    many_words: bool = False
    cumulative: bool = False

    def lines(self, value: T) -> list[str]:
        """The texts after the parameter's name in redis.conf, line by line."""
        return [self.show(value) or '""'] if self.write is None else self.write(value)


class Parameter(Generic[T]):
    """One parameter, declared as an attribute of a class: T is the type of the attribute's value.

    The class gives it its name. The objects of the class hold the values: see take_parameters().
    *valkey* is Valkey's default, where it is not Redis's: a valkey.conf asks for nothing with it.
    """

    def __init__(
        self,
        kind: Kind[T],
        default: T,
        aliases: tuple[str, ...] = (),
        mutable: bool = True,
        protected: bool = False,
        valkey: T | None = None,
        hidden: bool = False,
    ) -> None:
        self.kind = kind
        self.default = default
        self.aliases = aliases  # Redis's older names, and Valkey's
        self.mutable = mutable  # CONFIG SET may change it while the server runs
        self.protected = protected  # CONFIG SET needs enable-protected-configs
        self.valkey = valkey
        self.hidden = hidden  # CONFIG GET shows it only by its full name
        self.attribute = ""

    @property
    def name(self) -> str:
        return self.attribute.replace("_", "-")

    def is_default(self, value: T) -> bool:
        """Whether *value* is the default, of Redis or of Valkey."""
        return value == self.default or (self.valkey is not None and value == self.valkey)

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    if TYPE_CHECKING:  # in an object stands the value itself

        def __get__(self, holder: object, owner: type) -> T: ...


def take_parameters(holder: type) -> list[Parameter[Any]]:
    """Take the parameters declared in the class *holder* out of it, from first to last.

    What is left in its objects are plain attributes, which cost no call to read.
    """
    taken = [value for value in vars(holder).values() if isinstance(value, Parameter)]
    for parameter in taken:
        delattr(holder, parameter.attribute)
    return taken


# ---------------------------------------------------------------------- words


def quoted(text: str) -> str:
    """*text* in double quotes and escaped, so that it is read back as one word."""
    escapes = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
    inside = "".join(
        escapes.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}")
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{inside}"'


TEXT: Kind[str] = Kind(lambda text, _old: text, write=lambda text: [quoted(text)])


def _parse_file_name(text: str, _old: object) -> str:
    if not text:
        raise BadValue("can't be empty")
    if "/" in text:
        raise BadValue("can't be a path, just a filename")
    return text


FILE_NAME = TEXT._replace(parse=_parse_file_name)


_VERSION = re.compile(r"(\d{1,2})\.(\d{1,2})(?:\.(\d{1,3}))?")


def _parse_version(text: str, _old: object) -> str:
    found = _VERSION.fullmatch(text)
    if found is None:
        raise BadValue("argument must be a version, such as 8.6 or 8.6.3")
    return f"{int(found[1])}.{int(found[2])}.{int(found[3] or 0)}"


VERSION: Kind[str] = Kind(_parse_version)


def _parse_yes_no(text: str, _old: object) -> bool:
    if text.lower() not in ("yes", "no"):
        raise BadValue("argument must be 'yes' or 'no'")
    return text.lower() == "yes"


YES_NO: Kind[bool] = Kind(_parse_yes_no, lambda value: "yes" if value else "no")


def one_of(*words: str) -> Kind[str]:
    """One of *words*, in upper or lower case."""
    as_written = {word.lower(): word for word in words}

    def parse(text: str, _old: object) -> str:
        if text.lower() not in as_written:
            raise BadValue(f"argument(s) must be one of the following: {', '.join(words)}")
        return as_written[text.lower()]

    return Kind(parse)


def some_of(*words: str) -> Kind[str]:
    """Any number of *words*, in upper or lower case."""
    one = one_of(*words)

    def parse(text: str, old: str) -> str:
        chosen = [one.parse(word, old) for word in text.split() or [""]]
        return " ".join(word for word in words if word in chosen)

    return Kind(parse, many_words=True)


def unsupported(kind: Kind[T], default: T, why: str) -> Kind[T]:
    """A kind that accepts only *default*; *why* is the error for every other valid value."""

    def parse(text: str, old: T) -> T:
        if kind.parse(text, old) != default:
            raise Missing(why)
        return default

    return kind._replace(parse=parse)


WORDS: Kind[list[str]] = Kind(lambda text, _old: text.split(), " ".join, many_words=True)

MOST_ADDRESSES = 16


def _addresses(text: str, _old: object) -> list[str]:
    words = text.split()
    if len(words) > MOST_ADDRESSES:
        raise BadValue("Too many bind addresses specified.")
    if "-" in words:  # no address after the dash, which is none
        raise BadValue("Failed to bind to specified addresses.")
    return words


ADDRESSES = WORDS._replace(parse=_addresses)

# ---------------------------------------------------------------------- numbers


def _parse_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text) or not -INT64 - 1 <= int(text) <= INT64:
        raise BadValue("argument couldn't be parsed into an integer")
    return int(text)


def _bounded(number: int, least: int, most: int, form: str = "d") -> int:
    if not least <= number <= most:
        raise BadValue(f"argument must be between {least:{form}} and {most:{form}} inclusive")
    return number


def parse_bytes(text: str) -> int:
    """Read ``64mb``, ``1g`` (powers of ten without the b) or a plain number. Raises BadValue.

    As in Redis, no digits mean 0, and what exceeds 64 bits is the greatest 64-bit number.
    """
    match = _BYTES.fullmatch(text[:MAX_NUMBER_TEXT])
    if match is None:
        raise BadValue("argument must be a memory value")
    return min(int(match[1] or 0) * _UNITS[(match[2] or "").lower()], UINT64)


def bytes_text(size: int) -> str:
    """*size* in the greatest unit that divides it, as in redis.conf: 64mb."""
    for unit in ("gb", "mb", "kb"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)


def integer(least: int = 0, most: int = INT32) -> Kind[int]:
    return Kind(lambda text, _old: _bounded(_parse_integer(text), least, most))


PORT = integer(0, 65535)


def clamped(least: int, most: int) -> Kind[int]:
    """A number; one outside *least* to *most* is silently replaced by the nearer of the two."""
    any_size = integer()
    return Kind(lambda text, old: min(max(any_size.parse(text, old), least), most))


def memory(least: int = 0, most: int = INT64) -> Kind[int]:
    return Kind(
        lambda text, _old: _bounded(parse_bytes(text), least, most),
        write=lambda size: [bytes_text(size)],
    )


def _parse_memory_or_percent(text: str, _old: int) -> int:
    if re.fullmatch(r"[0-9]{1,3}%", text):
        percent = int(text[:-1])
        if percent > 100:
            raise BadValue("percentage argument must be less or equal to 100")
        return -percent
    try:
        return parse_bytes(text)
    except BadValue:
        raise BadValue("argument must be a memory or percent value") from None


# A size in bytes, or a percentage, which is less than 0: 5% is -5.
MEMORY_OR_PERCENT: Kind[int] = Kind(
    _parse_memory_or_percent,
    lambda size: f"{-size}%" if size < 0 else str(size),
    lambda size: [f"{-size}%" if size < 0 else bytes_text(size)],
)


def octal(most: int) -> Kind[int]:
    def parse(text: str, _old: object) -> int:
        if not _OCTAL.fullmatch(text):
            raise BadValue("argument couldn't be parsed as an octal number")
        return _bounded(int(text, 8), 0, most, "o")

    return Kind(parse, lambda number: f"{number:o}")


# ---------------------------------------------------------------------- several values


def _parse_percentiles(text: str, _old: object) -> str:
    words = text.split()
    if not all(re.fullmatch(r"[-+]?[0-9]{1,40}(\.[0-9]{1,40})?", word) for word in words):
        raise BadValue("Invalid latency-tracking-info-percentiles parameters")
    if not all(0 <= float(word) <= 100 for word in words):
        raise BadValue(
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
        )
    return " ".join(repr(float(word)).removesuffix(".0") for word in words)


PERCENTILES: Kind[str] = Kind(_parse_percentiles, many_words=True)


def _parse_save(text: str, _old: object) -> list[tuple[int, int]]:
    words = text.split()
    if len(words) % 2 or not all(_INTEGER.fullmatch(word) for word in words):
        raise BadValue("Invalid save parameters")
    points = [(int(s), int(c)) for s, c in zip(words[::2], words[1::2], strict=True)]
    if any(seconds < 1 or changes < 0 for seconds, changes in points):
        raise BadValue("Invalid save parameters")
    return points


SAVE_POINTS: Kind[list[tuple[int, int]]] = Kind(
    _parse_save,
    lambda points: " ".join(f"{seconds} {changes}" for seconds, changes in points),
    lambda points: [f"{seconds} {changes}" for seconds, changes in points] or ['""'],
    many_words=True,
    cumulative=True,
)


def _parse_stream_policies(text: str, _old: object) -> list[tuple[str, ...]]:
    words = text.split()
    policies: list[tuple[str, ...]] = []
    at = 0
    while at < len(words):
        start, policy = at, StreamPolicy()
        if _capitals(words[at]) in POLICY_WORDS:
            raise BadValue("a policy begins with a pattern of names")
        at += 1
        while at < len(words) and _capitals(words[at]) in POLICY_WORDS:
            is_given = at + 1 < len(words)
            value = words[at + 1].encode("utf-8", "surrogateescape") if is_given else b""
            if not policy.set(_capitals(words[at]), value) or not value:
                raise BadValue(f"{words[at]} lacks a value, or has one that it cannot have")
            at += 2
        if not policy:
            names = ", ".join(word.decode() for word in POLICY_WORDS)
            raise BadValue(f"after a pattern there must be one of {names}")
        policies.append(tuple(words[start:at]))
    return policies


def _capitals(word: str) -> bytes:
    return word.upper().encode("utf-8", "surrogateescape")


def _write_stream_policies(policies: list[tuple[str, ...]]) -> list[str]:
    return [
        " ".join(word if _PLAIN.fullmatch(word) else quoted(word) for word in policy)
        for policy in policies
    ]


_PLAIN = re.compile(r"[!#-&(-\[\]-~]+")  # what needs no quotes

# Each policy is a tuple of words: a pattern of names, and what XCFGSET takes.
STREAM_POLICIES: Kind[list[tuple[str, ...]]] = Kind(
    _parse_stream_policies,
    lambda policies: " ".join(word for policy in policies for word in policy),
    _write_stream_policies,
    many_words=True,
    cumulative=True,
)

_CLASSES = {"normal": "normal", "slave": "slave", "replica": "slave", "pubsub": "pubsub"}


def _parse_output_limits(text: str, old: dict[str, OutputLimit]) -> dict[str, OutputLimit]:
    words = text.split()
    if len(words) % 4:
        raise BadValue("Wrong number of arguments in buffer limit configuration.")
    limits = dict(old)
    for name, hard, soft, seconds in zip(*[iter(words)] * 4, strict=True):
        if name.lower() not in _CLASSES:
            raise BadValue("Invalid client class specified in buffer limit configuration.")
        try:
            most_s = _bounded(_parse_integer(seconds), 0, INT64)
            limit = OutputLimit(parse_bytes(hard), parse_bytes(soft), most_s)
        except BadValue:
            raise BadValue(
                "Error in hard, soft or soft_seconds setting in buffer limit configuration."
            ) from None
        limits[_CLASSES[name.lower()]] = limit
    return limits


def _write_output_limits(limits: dict[str, OutputLimit]) -> list[str]:
    return [
        f"{'replica' if name == 'slave' else name}"
        f" {bytes_text(limit.hard)} {bytes_text(limit.soft)} {limit.soft_seconds}"
        for name, limit in limits.items()
    ]


OUTPUT_LIMITS: Kind[dict[str, OutputLimit]] = Kind(
    _parse_output_limits,
    lambda limits: " ".join(f"{name} {h} {s} {t}" for name, (h, s, t) in limits.items()),
    _write_output_limits,
    many_words=True,
)
