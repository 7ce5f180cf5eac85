"""A client for bulk work: it reconnects when the connection is lost, and repeats the work."""

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
    """Keeps one connection to a server's primary, made on first use. Not thread-safe.

    *doing* says in errors what the client was used for.
    """

    def __init__(self, server: Server, doing: str) -> None:
        self._server = server
        self._doing = doing
        self._connection: Connection | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_connection": None}

    def connection(self) -> Connection:
        """The connection. Raises OSError; ServerError for a login that is refused, or a cluster."""
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
        """Close the connection; the next call of ``connection`` opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def retry(self, attempt: Callable[[Connection], T]) -> T:
        """Call *attempt* with the connection, again on a new one if it is lost; return its result.

        Raises ServerError if it has failed for ``retry_s``.
        """
        retry = Retry(self._server, self._doing)
        while True:
            try:
                return attempt(self.connection())
            except OSError as problem:
                self.drop()
                retry.wait_after(problem)
            except BaseException:  # a reply may still arrive on the connection
                self.drop()
                raise
