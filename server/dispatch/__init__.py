"""How a command runs, waits, is held back, and what follows from it."""
