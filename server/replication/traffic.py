"""The bytes that replication has moved: what INFO says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from server.observe.rates import Rates
from server.replication.replica import Replica


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
        self._rates = Rates(2)

    @property
    def sent(self) -> int:
        """Bytes to replicas: the stream, and copies."""
        return self._sent_to_gone + sum(replica.written for replica in self._replicas)

    def left(self, replica: Replica) -> None:
        """*replica* is about to be removed from the list."""
        if replica in self._replicas:
            self._sent_to_gone += replica.written

    def tick(self, now_ms: int) -> None:
        self._rates.sample(now_ms, self.received, self.sent)

    def info(self) -> Iterable[tuple[str, object]]:
        """The fields of INFO stats."""
        received, sent = self._rates.per_second
        yield "total_net_repl_input_bytes", self.received
        yield "total_net_repl_output_bytes", self.sent
        yield "instantaneous_input_repl_kbps", f"{received / 1024:.2f}"
        yield "instantaneous_output_repl_kbps", f"{sent / 1024:.2f}"
