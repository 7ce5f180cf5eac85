"""What is done without a command: ticks, reloads, crashes, the end."""
