"""What DEBUG switches for tests. A server in service leaves all of it as it is."""

from __future__ import annotations


class Switches:
    """They stand beside the parameters of a Config, and no file has them."""

    def __init__(self) -> None:
        self.cron = True  # PAUSE-CRON
        self.active_expire = True  # SET-ACTIVE-EXPIRE
        self.checksums = True  # SET-SKIP-CHECKSUM-VALIDATION: whether those of values are looked at
        self.flush_sleep_s = 0.0  # AOF-FLUSH-SLEEP: before each write to the append-only file
