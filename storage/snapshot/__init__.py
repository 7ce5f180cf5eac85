"""A snapshot: all databases at one moment as the bytes of an RDB, and back."""
