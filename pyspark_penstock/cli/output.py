"""What the program prints: lines for people, or JSON for programs; never both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any


class Output:
    """Prints to standard output; errors and notes go to standard error."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def say(self, lines: Iterable[str], *values: Mapping[str, Any]) -> None:
        """The same fact twice: *lines* for people, *values*, one a line, for programs."""
        if self._as_json:
            lines = (json.dumps(value, default=str) for value in values)
        for line in lines:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def note(self, message: str) -> None:
        """Something to look at, which stops nothing."""
        line = json.dumps({"event": "notice", "message": message}) if self._as_json else message
        sys.stderr.write(f"{line}\n")

    def fail(self, problem: Exception) -> None:
        """Why the program ends."""
        if self._as_json:
            line = json.dumps({"error": type(problem).__name__, "message": str(problem)})
        else:
            line = f"penstock: {problem}"
        sys.stderr.write(f"{line}\n")
