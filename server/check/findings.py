"""The result of checking one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from server.check.contents import Contents

UNKNOWN = -1


@dataclass
class Finding:
    """One file, or what a start makes of it.

    *problem* is "" if it is valid; otherwise *verdict* is the kind of problem in a word, and
    *offset* is where it stops being valid. *torn* says that only the last write was cut short:
    everything before *offset* may stay.
    """

    path: Path
    kind: str  # snapshot, log, manifest, folder or start
    size: int
    problem: str = ""
    verdict: str = "BROKEN"
    offset: int = UNKNOWN
    torn: bool = False
    facts: list[str] = field(default_factory=list)  # lines for people
    contents: Contents | None = None

    @property
    def is_whole(self) -> bool:
        return not self.problem
