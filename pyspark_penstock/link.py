"""A connection that lasts: made anew where it is lost, and what was broken off is begun again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pyspark_penstock.connection import Server
from pyspark_penstock.patience import Patience
from pyspark_penstock.wire import Wire

T = TypeVar("T")


class Link:
    """The connection to the server, made when it is needed. Not for use by several threads."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._wire: Wire | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_wire": None}

    def wire(self) -> Wire:
        """The connection. Raises OSError."""
        if self._wire is None:
            self._wire = Wire(self._server)
        return self._wire

    def drop(self) -> None:
        """Close it; the next call of ``wire`` makes another."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def persist(self, attempt: Callable[[Wire], T]) -> T:
        """What *attempt* returns; where a connection is lost, it is called again with a new one.

        Raises ServerError when patience is at its end.
        """
        patience = Patience()
        while True:
            try:
                return attempt(self.wire())
            except OSError as problem:
                self.drop()
                patience.wait_after(problem)
            except BaseException:  # an answer may be under way
                self.drop()
                raise
