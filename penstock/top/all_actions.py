"""All actions, in the order in which the help lists them."""

from __future__ import annotations

from penstock.top.actions import Ack, Action, Claim, Delete, Nack, PauseOrResume, Redrive, Trim
from penstock.top.moving import Move

ACTIONS: tuple[Action, ...] = (
    PauseOrResume(),
    Redrive(),
    Ack(),
    Nack(),
    Claim(),
    Move(),
    Trim(),
    Delete(),
)
