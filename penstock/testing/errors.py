"""What can go wrong with a server for tests."""

from __future__ import annotations


class ServerError(Exception):
    """The server does not do what it was asked for; the message says why."""


class StartFailed(ServerError):
    """The server did not start; the message has the end of its log."""
