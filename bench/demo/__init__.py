"""Real input, as the proof: producers, consumer groups and a death, on Debian's package lists."""
