"""Replicas that confirm: with ``waitReplicas`` rows count as written when replicas have them, too.

    WATCH, MULTI, rows, SET marker, EXEC      written, and not confirmed
    WAIT n ms                                 how many replicas have it

WAIT is about what its own connection has written. So after a lost connection, or a time that is
over, the marker is written again, as it is, and that is waited for: replicas get all in its order.
If the marker is gone, a primary has died that had passed on neither it nor the rows. Then the
transaction is sent again, and no row comes twice.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.errors import ServerError


class Confirmation(NamedTuple):
    """So many *replicas* confirm within *wait_ms*; none are asked if it is 0."""

    replicas: int = 0
    wait_ms: int = 0

    def wait(self, connection: Connection) -> None:
        """Wait until replicas have what *connection* has written. Raises OSError, ServerError."""
        if not self.replicas:
            return
        try:
            found = int(connection.call("WAIT", self.replicas, self.wait_ms))
        except ServerError as problem:
            if "replica" not in str(problem).lower():  # it has just become one: a failover
                raise
            raise ConnectionError(str(problem)) from None
        if found < self.replicas:
            raise ConnectionError(
                f"{found} of {self.replicas} replicas confirmed it within {self.wait_ms} ms"
            )
