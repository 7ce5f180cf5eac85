"""CLIENT PAUSE: which commands are held back, and until when.

The server itself holds writes back, too, while a replica catches up (FAILOVER, SHUTDOWN). Neither
ends the other.
"""

from __future__ import annotations

from server.client.client import Client
from server.observe.part import Part
from server.table.command import Command, Flags

LATEST_MS = 2**63 - 1
MAY_WRITE = int(Flags.WRITE | Flags.MAY_REPLICATE)
RUNS_QUEUE = int(Flags.RUNS_QUEUE)


class Pausing(Part):
    """Holds commands back until the pause ends; then their clients resume.

    *until_ms* and *writes_only* are of CLIENT PAUSE; 0: there is none.
    """

    def __init__(self) -> None:
        self.until_ms = 0  # by the time that has passed, as the server's clock has it
        self.writes_only = False
        self._holders = 0  # for whom the server holds writes back
        self._held: dict[Client, None] = {}

    @property
    def active(self) -> bool:
        return self.until_ms > 0 or self._holders > 0

    @property
    def waiting(self) -> int:
        """How many clients are held back."""
        return len(self._held)

    def begin(self, until_ms: int, writes_only: bool) -> None:
        """Pause until *until_ms*. A pause that is on can only be made longer and stricter."""
        self.writes_only = writes_only and (self.writes_only or not self.until_ms)
        self.until_ms = min(max(self.until_ms, until_ms), LATEST_MS)

    def holds(self, client: Client, command: Command, flags: int) -> bool:
        """Whether *client* may not run *command* now; *flags* are those that hold for this call."""
        if self.until_ms and not self.writes_only:
            return True
        if not self.until_ms and not self._holders:
            return False
        if command.flags & RUNS_QUEUE:
            return bool(client.queue.flags & MAY_WRITE)
        return bool(flags & MAY_WRITE)

    def hold(self, client: Client, argv: list[bytes]) -> None:
        """Keep *argv* until the pause ends."""
        client.postpone(argv)
        self._held[client] = None

    def client_left(self, client: Client) -> None:
        if client in self._held:
            del self._held[client]
            client.postponed = None

    def end(self) -> list[Client]:
        """No CLIENT PAUSE any more; returns the clients to resume, in the order they came."""
        self.until_ms = 0
        self.writes_only = False
        return self._take_held()

    def hold_writes(self) -> None:
        """The server holds writes back, until end_hold()."""
        self._holders += 1

    def end_hold(self) -> list[Client]:
        """It does so no more; returns the clients to resume. A pause holds them back again."""
        self._holders -= 1
        return self._take_held()

    def _take_held(self) -> list[Client]:
        held, self._held = list(self._held), {}
        return held
