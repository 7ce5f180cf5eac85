"""What identifies a run of the server."""

from __future__ import annotations

import os


class Instance:
    """Its id, and when it was started: *started_ms* is unix time in ms."""

    def __init__(self) -> None:
        self.run_id = os.urandom(20).hex()
        self.started_ms = 0
