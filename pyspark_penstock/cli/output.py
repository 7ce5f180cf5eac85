"""The output of the program: lines for people, or JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark_penstock.names import readable, utf8


class Output:
    """Prints results to standard output, errors and notes to standard error."""

    def __init__(self, as_json: bool) -> None:
        self.in_json = as_json

    def say(self, lines: Iterable[str], *values: Mapping[str, Any]) -> None:
        """Print *lines* for people, or the same as *values* for programs, one on each line."""
        if self.in_json:
            lines = map(as_json, values)
        for line in lines:
            sys.stdout.write(f"{printable(line, sys.stdout.encoding)}\n")
        sys.stdout.flush()

    def note(self, message: str) -> None:
        """Print a note. The program continues."""
        line = as_json({"event": "notice", "message": message}) if self.in_json else message
        sys.stderr.write(f"{line}\n")

    def fail(self, problem: Exception) -> None:
        """Print the error with which the program ends."""
        if self.in_json:
            line = as_json({"error": type(problem).__name__, "message": str(problem)})
        else:
            line = f"penstock: {problem}"
        sys.stderr.write(f"{line}\n")


def as_json(value: Mapping[str, Any]) -> str:
    """A value as JSON in ASCII.

    Surrogates become replacement characters: many parsers refuse them.
    """
    text = utf8(json.dumps(value, default=str, ensure_ascii=False))
    return json.dumps(json.loads(text))


def printable(line: str, encoding: str | None) -> str:
    """The line with escapes for control characters, and for characters that *encoding* lacks."""
    known = encoding or "utf-8"
    return readable(line).encode(known, "backslashreplace").decode(known)
