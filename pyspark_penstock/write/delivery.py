"""Delivery: how the rows of one partition get to one stream. At least once is written here.

at-least-once   here           what was not answered is sent again
exactly-once    exactly_once   a marker in the transaction that writes the rows
ordered         ordered        the same, a marker a stream; and ids that follow from the rows
atomic          staging        the driver writes all rows of a batch in one transaction
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pyspark_penstock.connect.bulk_client import BulkClient
from pyspark_penstock.write.transaction import refuse_errors
from pyspark_penstock.write.xadd_commands import Commands


class Task(NamedTuple):
    """Which part of which query's output is being written; without *partition*, a whole batch."""

    query: str
    batch: int
    partition: int | None = None

    @property
    def title(self) -> str:
        """What errors call it."""
        batch = f"batch {self.batch}"
        return batch if self.partition is None else f"{batch}, partition {self.partition}"


class Delivery(Protocol):
    """Takes the commands of a partition for one stream, in order."""

    def send(self, commands: Commands) -> None: ...

    def finish(self) -> None: ...


class AtLeastOnce:
    """Sends what it gets."""

    def __init__(self, bulk: BulkClient) -> None:
        self._bulk = bulk

    def send(self, commands: Commands) -> None:
        """Send them, all of them again if that is broken off. Raises SinkError."""
        self._bulk.retry(lambda connection: refuse_errors(connection.exchange([commands.data])))

    def finish(self) -> None:
        """Nothing is held back."""
