"""The addresses that the server listens at, as commands see them."""

from __future__ import annotations

from typing import Protocol


class Addresses(Protocol):
    """Follows the parameters that say where to listen.

    If what they say cannot be obtained, BadValue is raised, and all is left as it was.
    """

    @property
    def descriptions(self) -> dict[str, str]:
        """INFO's listener lines, by their names."""

    def follow_port(self, parameter: str) -> None:
        """The *parameter* "port", "tls-port" or "metrics-port" was set."""

    def follow_bind(self) -> None:
        """The addresses were set."""

    def follow_tls(self) -> None:
        """A parameter of TLS was set."""


class NoAddresses:
    """Stands for them where nobody listens."""

    descriptions: dict[str, str] = {}  # noqa: RUF012  (nobody adds one)

    def follow_port(self, _parameter: str) -> None:
        """Nobody listens."""

    def follow_bind(self) -> None:
        """Nobody listens."""

    def follow_tls(self) -> None:
        """Nobody listens."""
