"""The commands that operators use: CONFIG, INFO, COMMAND, DEBUG, and those that save."""
