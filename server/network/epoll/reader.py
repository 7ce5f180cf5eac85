"""A file that is only read: a listening socket, the selector's bell."""

from __future__ import annotations

from collections.abc import Callable

from server.network.transport import Transport
from server.process.faults import ServerFault


class Reader(Transport):
    """Makes a call whenever *fd*, which is somebody else's, has something to read."""

    def __init__(self, fd: int, call: Callable[[], None]) -> None:
        self.fd = fd
        self.address = self.local_address = ""
        self._call = call

    def ready(self, events: int) -> None:
        """Make the call. Raises ServerFault if it fails: no client is to blame."""
        try:
            self._call()
        except Exception as error:
            raise ServerFault("what is no client's socket was not served") from error

    def abort(self) -> None:
        """Nothing to do: the opener of the file closes it."""
