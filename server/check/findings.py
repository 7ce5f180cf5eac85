"""What a look at one file has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from server.check.contents import Contents

UNKNOWN = -1


@dataclass
class Finding:
    """Of one file: *problem* is "" if it is whole; else *offset* is where it breaks.

    *torn* says that all before *offset* is whole and may stay: the last write was cut short.
    """

    path: Path
    kind: str  # snapshot, log or manifest
    size: int
    problem: str = ""
    offset: int = UNKNOWN
    torn: bool = False
    facts: list[str] = field(default_factory=list)  # lines for people
    contents: Contents | None = None

    @property
    def is_whole(self) -> bool:
        return not self.problem
