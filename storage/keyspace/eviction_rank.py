"""What ranks the keys that may be evicted: which one goes first."""

from __future__ import annotations

BY_IDLE_TIME = 1  # the one that has not been used for the longest time
BY_FREQUENCY = 2  # the one that is used most rarely
BY_EXPIRY = 3  # the one that expires first
