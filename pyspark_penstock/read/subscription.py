"""Which streams are read: those of some names, or all that match a glob or a regular expression.

Servers match globs by themselves. Names that they tell without matching them are matched here, by
the same rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import redis

from pyspark_penstock.connect import stream_info
from pyspark_penstock.errors import OptionError
from pyspark_penstock.names import key
from pyspark_penstock.options import Options, refusal
from pyspark_penstock.read.offsets import brief

SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
PATTERNS = GLOB, REGEX = ("glob", "regex")
EVERYTHING = "*"
ANY = {"*": ".*", "?": "."}  # in a glob


@dataclass(frozen=True)
class Subscription:
    """Which streams to read: by name, or all that match a glob or a regular expression."""

    streams: tuple[str, ...] = ()
    pattern: str = ""
    expression: str = ""

    @classmethod
    def from_options(cls, options: Options) -> Subscription:
        """The subscription in the options. Raises OptionError."""
        options.at_most_one(*SUBSCRIPTIONS)
        if "subscribePattern" in options:
            if options.choice("patternType", *PATTERNS) == REGEX:
                return cls(expression=expression_of(options))
            return cls(pattern=pattern_of(options))
        for name in ("patternType", "discoveryInterval"):
            options.refuse([name], "is for 'subscribePattern': give one")
        return cls(names_of(options))

    def source(self) -> dict[str, Any]:
        """The form in the checkpoint."""
        if self.expression:
            return {"subscribePattern": self.expression, "patternType": REGEX}
        if self.pattern:
            return {"subscribePattern": self.pattern}
        return brief({"subscribe": sorted(self.streams)})

    def names(self, client: redis.Redis) -> list[str]:
        """The names of the streams, as of now."""
        if not self.is_open:
            return list(self.streams)
        found = stream_info.matching_streams(client, self.glob)
        return [name for name in found if self.matches(name)]

    @property
    def is_open(self) -> bool:
        """Whether streams may be found that have no name here."""
        return bool(self.pattern or self.expression)

    @property
    def glob(self) -> str:
        """A glob that all of them match."""
        return self.pattern or EVERYTHING

    def matches(self, name: str) -> bool:
        """Whether the stream *name*, which matches the glob, is one of them."""
        if self.expression:
            return re.fullmatch(self.expression, name) is not None
        return not self.pattern or glob_matches(self.pattern, name)


def pattern_of(options: Options) -> str:
    """The glob of ``subscribePattern``."""
    pattern = options.text("subscribePattern")
    if not pattern:
        raise refusal("subscribePattern", pattern, "a glob; * is all streams")
    return pattern


def expression_of(options: Options) -> str:
    """The regular expression of ``subscribePattern``. Raises OptionError."""
    pattern = options.text("subscribePattern")
    try:
        re.compile(pattern)
    except re.error as problem:
        raise refusal("subscribePattern", pattern, f"a regular expression: {problem}") from None
    if not pattern:
        raise refusal("subscribePattern", pattern, "a regular expression; .* is all streams")
    return pattern


def names_of(options: Options) -> tuple[str, ...]:
    """The names in ``assign`` or ``subscribe``, at least one."""
    if "assign" in options:
        streams = tuple(sorted(options.json_object("assign")))
        if not streams:
            raise refusal("assign", options.text("assign"), "ranges of at least one stream")
        return streams
    if "subscribe" not in options:
        raise OptionError("which streams? Give 'subscribe', 'subscribePattern' or 'assign'")
    names = tuple(name.strip() for name in options.text("subscribe").split(","))
    if not all(names):
        raise refusal("subscribe", options.text("subscribe"), "names of streams: one is empty")
    return tuple(dict.fromkeys(names))


# ---------------------------------------------------------------------- globs


def glob_matches(glob: str, name: str) -> bool:
    """Whether a name matches a glob, byte by byte, as servers compare them."""
    return expression_of_glob(bytewise(glob)).fullmatch(bytewise(name)) is not None


def bytewise(text: str) -> str:
    """A character for each byte of a name."""
    return key(text).decode("latin-1")


@lru_cache(maxsize=64)
def expression_of_glob(glob: str) -> re.Pattern[str]:
    """The regular expression that matches the same names."""
    parts, at = [], 0
    while at < len(glob):
        here = glob[at]
        end = end_of_class(glob, at) if here == "[" else at + 1
        if here == "\\" and at + 1 < len(glob):
            end = at + 2
            parts.append(re.escape(glob[at + 1]))
        elif here == "[":
            parts.append(class_of(glob[at + 1 : end - 1]))
        else:
            parts.append(ANY.get(here, re.escape(here)))
        at = end
    return re.compile("".join(parts), re.DOTALL)


def end_of_class(glob: str, at: int) -> int:
    """Where the class that begins at *at* has ended; one that is not closed ends with the glob."""
    at += 1
    while at < len(glob) and glob[at] != "]":
        at += 2 if glob[at] == "\\" else 1
    return min(at, len(glob)) + 1


def class_of(inside: str) -> str:
    """The expression for a class such as ``^a-z``."""
    negated = inside.startswith("^")
    chosen, at = [], int(negated)
    while at < len(inside):
        if inside[at] == "\\" and at + 1 < len(inside):
            chosen.append(re.escape(inside[at + 1]))
            at += 2
        elif inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            low, high = sorted((inside[at], inside[at + 2]))
            chosen.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            chosen.append(re.escape(inside[at]))
            at += 1
    if not chosen:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{''.join(chosen)}]"
