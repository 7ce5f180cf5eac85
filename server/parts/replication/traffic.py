"""The bytes that replication has moved: in all, and a second."""

from __future__ import annotations

from collections.abc import Sequence

from server.observe.stats import Rates
from server.parts.replication.replica import Replica


class Traffic:
    """Counts since the start or the last CONFIG RESETSTAT.

    What goes to *replicas* is counted by each of them, and remembered when one has left.
    """

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = replicas
        self.reset()

    def reset(self) -> None:
        self.received = 0  # bytes, from the primary
        self._sent_to_gone = -sum(replica.written for replica in self._replicas)
        self.rates = Rates()  # of what was received and sent, as tick() samples them

    @property
    def sent(self) -> int:
        """Bytes to replicas: the stream, and copies."""
        return self._sent_to_gone + sum(replica.written for replica in self._replicas)

    def left(self, replica: Replica) -> None:
        """*replica* is about to be removed from the list."""
        if replica in self._replicas:
            self._sent_to_gone += replica.written

    def tick(self, now_ms: int) -> None:
        self.rates.sample(now_ms, received=self.received, sent=self.sent)
