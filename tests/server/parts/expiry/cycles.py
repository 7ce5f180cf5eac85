"""The active expiry cycle of a server that a test has made."""

from __future__ import annotations

from collections.abc import Callable

from server.parts.expiry.expiry_cycle import ExpiryCycle
from server.parts.state import ServerState


def cycle_of(state: ServerState, monotonic_s: Callable[[], float]) -> ExpiryCycle:
    """The cycle of *state*; *monotonic_s* says how long it has taken."""
    return ExpiryCycle(
        state.databases,
        state.events,
        state.config,
        state.stats,
        state.latency_events,
        monotonic_s,
    )
