"""A connection that lasts: made anew where it is lost, and what was broken off is begun again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.cluster import refuse_node
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.retry import Retry

T = TypeVar("T")


class BulkClient:
    """The connection to a server's primary, made when it is needed. Not for several threads.

    *doing* is what errors say that it was for.
    """

    def __init__(self, server: Server, doing: str) -> None:
        self._server = server
        self._doing = doing
        self._connection: Connection | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_wire": None}

    def connection(self) -> Connection:
        """The connection. Raises OSError, and ServerError, as for a node of a cluster."""
        if self._connection is None:
            connection = dial(self._server, Preference.PRIMARY)
            try:
                refuse_node(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def drop(self) -> None:
        """Close it; the next call of ``connection`` makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def retry(self, attempt: Callable[[Connection], T]) -> T:
        """What *attempt* returns; where it is broken off, it is called again on a new connection.

        Raises ServerError when that was tried for too long.
        """
        retry = Retry(self._server, self._doing)
        while True:
            try:
                return attempt(self.connection())
            except OSError as problem:
                self.drop()
                retry.wait_after(problem)
            except BaseException:  # an answer may be under way
                self.drop()
                raise
