"""Parameters: their types, their defaults, and where they are read from."""
