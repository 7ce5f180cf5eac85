"""Delivery: how the rows of a partition get to a stream.

at-least-once   here             after a lost connection, sends the rows again
exactly-once    exactly_once     sets a marker in the transaction that writes the rows
ordered         ordered          the same with one marker for a stream, and ids that follow from
                                 the rows
atomic          atomic           the driver writes all rows of a batch in one transaction
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pyspark_penstock.connect.line import Line
from pyspark_penstock.write.transaction import refuse_errors
from pyspark_penstock.write.xadd_commands import Commands


class Task(NamedTuple):
    """A part of a query's output; a whole batch, if *partition* is None."""

    query: str
    batch: int
    partition: int | None = None

    @property
    def title(self) -> str:
        """Its name in errors."""
        batch = f"batch {self.batch}"
        return batch if self.partition is None else f"{batch}, partition {self.partition}"


class Delivery(Protocol):
    """Takes the commands of a partition for one stream, in order."""

    def send(self, commands: Commands) -> None: ...

    def finish(self) -> None: ...


class AtLeastOnce:
    """Delivers at least once: sends everything again if the connection is lost."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def send(self, commands: Commands) -> None:
        """Send the rows; if the connection is lost, send all of them again. Raises SinkError."""
        self._line.retry(lambda connection: refuse_errors(connection.exchange([commands.data])))

    def finish(self) -> None:
        """Nothing to do: nothing is held back."""
