"""What DEBUG changes for tests. In production all switches stay as they are."""

from __future__ import annotations


class Switches:
    """Part of Config, but no parameters: redis.conf and CONFIG do not have them."""

    def __init__(self) -> None:
        self.cron = True  # PAUSE-CRON
        self.active_expire = True  # SET-ACTIVE-EXPIRE
        self.checksums = True  # SET-SKIP-CHECKSUM-VALIDATION: verify the checksums of values
        self.flush_sleep_s = 0.0  # AOF-FLUSH-SLEEP: before each write to the append-only file
