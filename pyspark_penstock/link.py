"""A connection that lasts: made anew where it is lost, and what was broken off is begun again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pyspark_penstock.cluster import refuse_node
from pyspark_penstock.connection import Server
from pyspark_penstock.dial import Preference, dial
from pyspark_penstock.retry import Retry
from pyspark_penstock.wire import Wire

T = TypeVar("T")


class Link:
    """The connection to a server's primary, made when it is needed. Not for several threads.

    *doing* is what errors say that it was for.
    """

    def __init__(self, server: Server, doing: str) -> None:
        self._server = server
        self._doing = doing
        self._wire: Wire | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_wire": None}

    def wire(self) -> Wire:
        """The connection. Raises OSError, and ServerError, as for a node of a cluster."""
        if self._wire is None:
            wire = dial(self._server, Preference.PRIMARY)
            try:
                refuse_node(wire)
            except BaseException:
                wire.close()
                raise
            self._wire = wire
        return self._wire

    def drop(self) -> None:
        """Close it; the next call of ``wire`` makes another."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def persist(self, attempt: Callable[[Wire], T]) -> T:
        """What *attempt* returns; where it is broken off, it is called again on a new connection.

        Raises ServerError when that was tried for too long.
        """
        retry = Retry(self._server, self._doing)
        while True:
            try:
                return attempt(self.wire())
            except OSError as problem:
                self.drop()
                retry.wait_after(problem)
            except BaseException:  # an answer may be under way
                self.drop()
                raise
