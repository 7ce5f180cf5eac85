"""A database: keys, their values, and when they expire."""
