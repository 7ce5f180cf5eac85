"""A line: the connection for one stream or key, for work that is done as a whole.

Where the key's slot is between two nodes the line waits, since a transaction needs all its keys at
one of them: ASK is not followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyspark_penstock.connect.connection import Connection, Redirected
from pyspark_penstock.connect.links import Links

T = TypeVar("T")


class Line:
    """One key's connection among *links*, which other lines may have, too."""

    def __init__(self, links: Links, name: str = "") -> None:
        self._links = links
        self._name = name
        self._last: Connection | None = None
        self.failures = 0  # how often work had to be begun again

    def connection(self) -> Connection:
        """The connection. Raises OSError; ServerError for a login that is refused."""
        self._last = self._links.connection_of(self._name)
        return self._last

    def drop(self) -> None:
        """Close the connection; the next call of ``connection`` opens another."""
        if self._last is not None:
            self._links.drop(self._last)
            self._last = None

    def fail(self, problem: OSError) -> None:
        """After *problem* in the middle of a work: close the connection, and follow MOVED."""
        self.failures += 1
        if isinstance(problem, Redirected) and self._last is not None:
            self._links.failed(self._name, self._last, problem, settle=True)
        self.drop()

    def retry(self, attempt: Callable[[Connection], T]) -> T:
        """Call *attempt* with the connection, again on a new one if it is lost; return its result.

        Raises ServerError if it has failed for ``retry_s``.
        """
        retry = self._links.new_retry()
        while True:
            try:
                return attempt(self.connection())
            except OSError as problem:
                self.fail(problem)
                retry.wait_after(problem)
            except BaseException:  # a reply may still arrive on the connection
                self.drop()
                raise
