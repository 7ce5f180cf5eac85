"""How a key is used: what the number of 32 bits says that the key table keeps beside each key.

    unix second, below 0xFF000000               when it was used last
    0xFF  minutes, 16 bits  counter, 8 bits     under an LFU policy: how often it is used

The *counter* is logarithmic: the higher it is, the less likely does a use increment it. It loses 1
for each lfu-decay-time that passes; *minutes*, unix minutes modulo 2**16, says up to when it has.

A number tells which of the two it is. So nothing is converted when the policy changes: to an LFU
policy a key with a second counts as new then, and to the others one with minutes as used then.

Source: https://redis.io/docs/latest/develop/reference/eviction/
"""

from __future__ import annotations

from storage.chance import Chance
from storage.keyspace.settings import Clock

COUNTED = 0xFF000000  # from here on a number is minutes and a counter
MINUTES = 0xFFFF
MOST_FREQUENT = 255
NEW_KEY = 5  # the counter of a key that has not been used yet, so that it is not evicted at once
RAREST = 2**32 - 1  # Chance takes no greater number


class Usage:
    """Makes and reads these numbers.

    counts          an LFU policy is set: uses are counted
    is_saved        an LRU or LFU policy is set: snapshots tell how keys are used
    log_factor      the parameter lfu-log-factor: how slowly the counter grows
    decay_minutes   the parameter lfu-decay-time; 0: the counter loses nothing
    """

    __slots__ = ("_chance", "_clock", "counts", "decay_minutes", "is_saved", "log_factor")

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock = clock
        self._chance = chance
        self.counts = False
        self.is_saved = False
        self.log_factor = 10
        self.decay_minutes = 1

    def of_new_key(self) -> int:
        """The number of a key that is created now."""
        return self._counted(NEW_KEY) if self.counts else self._now_s()

    def after_use(self, number: int) -> int:
        """What *number* becomes when its key is used now."""
        if not self.counts:
            return self._now_s()
        counter = self.frequency(number)
        if counter < MOST_FREQUENT:  # plus 1, once in (counter - 5) * log_factor + 1 times
            rarity = max(0, counter - NEW_KEY) * self.log_factor + 1
            counter += self._chance.below(min(rarity, RAREST)) == 0
        return self._counted(counter)

    def of_loaded_key(self, idle_s: int, frequency: int) -> int:
        """The number of a key that was not used for *idle_s* and has that counter; -1: unknown."""
        if not self.counts:
            return max(0, self._now_s() - max(0, idle_s))
        return self._counted(NEW_KEY if frequency < 0 else frequency)

    def idle_s(self, number: int) -> int:
        """For how many seconds the key has not been used."""
        now_s = self._now_s()
        if number < COUNTED:
            return max(0, now_s - number)
        return 60 * ((now_s // 60 - (number >> 8)) & MINUTES)

    def frequency(self, number: int) -> int:
        """How often the key is used: its counter now."""
        now_s = self._now_s()
        if number < COUNTED:
            counter, passed = NEW_KEY, max(0, now_s - number) // 60
        else:
            counter, passed = number & MOST_FREQUENT, (now_s // 60 - (number >> 8)) & MINUTES
        if self.decay_minutes == 0:
            return counter
        return max(0, counter - passed // self.decay_minutes)

    # ------------------------------------------------------------------ parts of a number

    def _counted(self, counter: int) -> int:
        return COUNTED | (self._now_s() // 60 & MINUTES) << 8 | counter

    def _now_s(self) -> int:
        return self._clock.now_ms // 1000
