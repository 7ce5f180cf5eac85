"""Commands of Redis that this server does not have: which they are, and why.

Who sends one gets Redis's error for an unknown command, with the reason in place of the arguments.
Clients know the error by its first words.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """Commands that are not served, for one reason."""

    title: str
    reason: str  # goes after "unknown command 'X': "
    explanation: str  # for docs/commands.md
    names: tuple[str, ...]


FAMILIES = (
    Family(
        "Vector sets",
        "this server has no vector sets",
        "A similarity search over vectors is a program of its own, which streams and queues do not"
        " need.",
        (
            "VADD", "VCARD", "VDIM", "VEMB", "VGETATTR", "VINFO", "VISMEMBER", "VLINKS",
            "VRANDMEMBER", "VRANGE", "VREM", "VSETATTR", "VSIM",
        ),
    ),
    Family(
        "Arrays",
        "this server has no arrays",
        "No Redis that could be compared with has them; a hash whose fields are numbers does the"
        " same.",
        (
            "ARCOUNT", "ARDEL", "ARDELRANGE", "ARGET", "ARGETRANGE", "ARGREP", "ARINFO", "ARINSERT",
            "ARLASTITEMS", "ARLEN", "ARMGET", "ARMSET", "ARNEXT", "AROP", "ARRING", "ARSCAN",
            "ARSEEK", "ARSET",
        ),
    ),
)  # fmt: skip

MODULES = "this server loads no modules"
PREFIXES = ("BF.", "CF.", "CMS.", "FT.", "JSON.", "TDIGEST.", "TOPK.", "TS.")

_REASONS = {name: family.reason for family in FAMILIES for name in family.names}


def reason_for(name: str) -> str:
    """Why the command *name*, in capitals, is not served; "" if nobody would expect it to be."""
    return MODULES if name.startswith(PREFIXES) else _REASONS.get(name, "")
