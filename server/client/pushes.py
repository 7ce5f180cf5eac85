"""What clients are sent besides their replies: messages, invalidations, the lines of MONITOR.

    PUBLISH news x      to each subscriber: at once
                        to the publisher itself, if it is subscribed: after the reply

While a command of a client runs, all that this client is sent waits until its reply is written:
else it would stand inside EXEC's array. Redis does so since 7.2. Invalidations come after
the messages then.
"""

from __future__ import annotations

from server.client.client import Client


class Pushes:
    """Sends them. *running* is the client whose own command runs, if it may be sent something."""

    __slots__ = ("_invalidations", "_messages", "running")

    def __init__(self) -> None:
        self.running: Client | None = None
        self._messages: list[bytes] = []  # what it gets after its reply
        self._invalidations: list[bytes] = []  # and after these

    def send(self, client: Client, data: bytes) -> None:
        """Add a message, which is RESP already, to what *client* is sent."""
        if client is self.running:
            self._messages.append(data)
        else:
            _send(client, data)

    def send_invalidation(self, client: Client, data: bytes) -> None:
        """Add an invalidation, which is RESP already, to what *client* is sent."""
        if client is self.running:
            self._invalidations.append(data)
        else:
            _send(client, data)

    def begin_command(self, client: Client) -> None:
        """A command of *client* runs; end_command will follow."""
        self.running = client

    def pause_command(self) -> Client | None:
        """Others are served before the command ends; whose it is, for begin_command()."""
        client, self.running = self.running, None
        return client

    def end_command(self, client: Client) -> None:
        """The reply to *client* is written, or it waits for one."""
        if client is not self.running:
            return
        self.running = None
        for late in (self._messages, self._invalidations):
            if late:
                for data in late:
                    _send(client, data)
                late.clear()


def _send(client: Client, data: bytes) -> None:
    client.out.append_shared(data)
    client.endpoint.flush()
