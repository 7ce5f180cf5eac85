"""The driver's client of the server: made when it is first needed, and never sent to tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark_penstock.connect.client import Client


class LazyClient:
    """A client in an object that Spark pickles; *connect* makes it."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}

    def get(self) -> Client:
        """The client. Raises what *connect* does."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    def close(self) -> None:
        """Close its connections; the next call of ``get`` makes another."""
        if self._client is not None:
            self._client.close()
            self._client = None
