"""The configuration: redis.conf's parameters that this server knows, their types and defaults.

A parameter is one row of PARAMETERS. From it come the attribute of Config (dashes become
underscores), the option of the command line, the line of redis.conf, and CONFIG GET and SET.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

UINT32 = 2**32 - 1
INT32 = 2**31 - 1
INT64 = 2**63 - 1


class BadValue(Exception):
    """The text does not say a value that the parameter may have; the message is for the user."""


class OutputLimit(NamedTuple):
    """client-output-buffer-limit of one class of clients: bytes, bytes, seconds."""

    hard: int
    soft: int
    soft_seconds: int


# ---------------------------------------------------------------------- kinds of values


@dataclass(frozen=True)
class Kind:
    """How a value is read from text and shown: *parse* raises BadValue."""

    parse: Callable[[str, Any], Any]  # (text, value so far) -> value
    show: Callable[[Any], str] = str


def _parse_yes_no(text: str, _old: object) -> bool:
    if text.lower() not in ("yes", "no"):
        raise BadValue("argument must be 'yes' or 'no'")
    return text.lower() == "yes"


def _parse_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise BadValue("argument couldn't be parsed into an integer")
    return int(text)


def _bounded(number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise BadValue(f"argument must be between {least} and {most} inclusive")
    return number


_UNITS = {"": 1, "b": 1, "k": 1000, "kb": 1024, "m": 1000**2, "mb": 1024**2, "g": 1000**3,
          "gb": 1024**3}  # fmt: skip


def parse_bytes(text: str) -> int:
    """Read ``64mb``, ``1g`` (powers of ten without the b) or a plain number. Raises BadValue."""
    digits = text.rstrip("bBkKmMgG")
    unit = _UNITS.get(text[len(digits) :].lower())
    if unit is None or not (digits.isascii() and digits.isdigit()):
        raise BadValue("argument must be a memory value")
    return int(digits) * unit


YES_NO = Kind(_parse_yes_no, lambda value: "yes" if value else "no")
TEXT = Kind(lambda text, _old: text)


def integer(least: int, most: int) -> Kind:
    return Kind(lambda text, _old: _bounded(_parse_number(text), least, most))


def memory(least: int = 0, most: int = INT64) -> Kind:
    return Kind(lambda text, _old: _bounded(parse_bytes(text), least, most))


def one_of(*words: str) -> Kind:
    def parse(text: str, _old: object) -> str:
        if text.lower() not in words:
            raise BadValue(f"argument(s) must be one of the following: {', '.join(words)}")
        return text.lower()

    return Kind(parse)


def _parse_words(text: str, _old: object) -> list[str]:
    return text.split()


WORDS = Kind(_parse_words, " ".join)


def _parse_save(text: str, _old: object) -> list[tuple[int, int]]:
    numbers = text.split()
    if len(numbers) % 2 or not all(n.isascii() and n.isdigit() for n in numbers):
        raise BadValue("Invalid save parameters")
    points = [(int(s), int(c)) for s, c in zip(numbers[::2], numbers[1::2], strict=True)]
    if any(seconds < 1 for seconds, _ in points):
        raise BadValue("Invalid save parameters")
    return points


SAVE_POINTS = Kind(_parse_save, lambda points: " ".join(f"{s} {c}" for s, c in points))

_CLASSES = {"normal": "normal", "slave": "slave", "replica": "slave", "pubsub": "pubsub"}


def _parse_output_limits(text: str, old: dict[str, OutputLimit]) -> dict[str, OutputLimit]:
    words = text.split()
    if not words or len(words) % 4:
        raise BadValue("Wrong number of arguments in buffer limit configuration.")
    limits = dict(old)
    for name, hard, soft, seconds in zip(*[iter(words)] * 4, strict=True):
        if name.lower() not in _CLASSES:
            raise BadValue("Invalid client class specified in buffer limit configuration.")
        try:
            limit = OutputLimit(parse_bytes(hard), parse_bytes(soft), _parse_number(seconds))
        except BadValue:
            raise BadValue("Error in hard, soft or soft_seconds setting") from None
        limits[_CLASSES[name.lower()]] = limit
    return limits


OUTPUT_LIMITS = Kind(
    _parse_output_limits,
    lambda limits: " ".join(f"{name} {h} {s} {t}" for name, (h, s, t) in limits.items()),
)

# ---------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Parameter:
    """One row: *aliases* are redis's older names; one that is not *mutable* is set at start only."""

    name: str
    kind: Kind
    default: Any
    aliases: tuple[str, ...] = ()
    mutable: bool = True
    protected: bool = False  # CONFIG SET needs enable-protected-configs

    @property
    def attribute(self) -> str:
        return self.name.replace("-", "_")


P = Parameter
PARAMETERS = (
    # the network
    P("port", integer(0, 65535), 6379, mutable=False),
    P("bind", WORDS, ["127.0.0.1", "-::1"], mutable=False),
    P("unixsocket", TEXT, "", mutable=False),
    P("unixsocketperm", Kind(lambda text, _old: int(text, 8), lambda n: f"{n:o}"), 0, mutable=False),
    P("tcp-backlog", integer(0, INT32), 511, mutable=False),
    P("tcp-keepalive", integer(0, INT32), 300),
    P("timeout", integer(0, INT32), 0),
    P("maxclients", integer(1, UINT32), 10000),
    P("protected-mode", YES_NO, True),
    P("requirepass", TEXT, ""),
    P("proto-max-bulk-len", memory(1024 * 1024), 512 * 1024 * 1024),
    P("client-query-buffer-limit", memory(1024 * 1024), 1024**3),
    P(
        "client-output-buffer-limit",
        OUTPUT_LIMITS,
        {
            "normal": OutputLimit(0, 0, 0),
            "slave": OutputLimit(256 * 1024**2, 64 * 1024**2, 60),
            "pubsub": OutputLimit(32 * 1024**2, 8 * 1024**2, 60),
        },
    ),
    # the process
    P("event-loop", one_of("uvloop", "asyncio"), "uvloop", mutable=False),
    P("databases", integer(1, INT32), 16, mutable=False),
    P("hz", integer(1, 500), 10),
    P("loglevel", one_of("debug", "verbose", "notice", "warning", "nothing"), "notice"),
    P("logfile", TEXT, "", mutable=False),
    P("daemonize", YES_NO, False, mutable=False),
    P("pidfile", TEXT, "", mutable=False),
    P("dir", TEXT, "", protected=True),
    P("enable-debug-command", one_of("no", "yes", "local"), "no", mutable=False),
    P("enable-protected-configs", one_of("no", "yes", "local"), "no", mutable=False),
    # data
    P("list-max-listpack-size", integer(-(2**31), INT32), -2, ("list-max-ziplist-size",)),
    P("list-compress-depth", integer(0, INT32), 0),
    P("stream-node-max-bytes", memory(), 4096),
    P("stream-node-max-entries", integer(0, INT64), 100),
    P("active-expire-effort", integer(1, 10), 1),
    P("maxmemory", memory(), 0),
    P("maxmemory-policy", one_of("noeviction"), "noeviction"),
    P("notify-keyspace-events", TEXT, ""),
    P("save", SAVE_POINTS, [], ()),
    P("appendonly", YES_NO, False),
)


class Config:
    """The present values, one attribute a parameter."""

    def __init__(self) -> None:
        self.file: str | None = None
        self._rows: dict[str, Parameter] = {}
        for row in PARAMETERS:
            setattr(self, row.attribute, row.default)
            for name in (row.name, *row.aliases):
                self._rows[name] = row

    def __getattr__(self, name: str) -> Any:  # the attributes are made from the table
        raise AttributeError(name)

    def find(self, name: str) -> Parameter | None:
        """The parameter of that name or old name, in whatever letters."""
        return self._rows.get(name.lower())

    def names(self) -> dict[str, Parameter]:
        """All names, old ones included."""
        return self._rows

    def show(self, row: Parameter) -> str:
        """The value as CONFIG GET and redis.conf have it."""
        return row.kind.show(getattr(self, row.attribute))

    def parse(self, row: Parameter, text: str) -> Any:
        """What *text* means for *row*. Raises BadValue."""
        return row.kind.parse(text, getattr(self, row.attribute))

    def set(self, row: Parameter, value: Any) -> None:
        """Give *row* a value that parse() has made."""
        setattr(self, row.attribute, value)
