"""The kinds of side data: one row each. To add one, write its row, and add a line to ROWS."""

from __future__ import annotations

from storage.side_data.group_policy import GROUP_POLICY
from storage.side_data.schedule import SCHEDULE
from storage.side_data.side_kind import SideKind, UnknownKind
from storage.side_data.stream_policy import STREAM_POLICY

ROWS: tuple[SideKind, ...] = (GROUP_POLICY, SCHEDULE, STREAM_POLICY)

BY_NAME: dict[bytes, SideKind] = {}


def register(row: SideKind) -> None:
    """Make *row* known by its name. Raises ValueError if another one has it."""
    if row.name in BY_NAME:
        raise ValueError(f"there are two kinds of side data called {row.name!r}")
    BY_NAME[row.name] = row


def named(name: bytes) -> SideKind:
    """The kind with that name, which may be one that this version does not know."""
    return BY_NAME.get(name) or UnknownKind(name)


for _row in ROWS:
    register(_row)
