"""The commands for who runs the server: CONFIG, INFO, COMMAND, DEBUG, saving."""
