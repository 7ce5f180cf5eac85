"""What the server is to its operating system: signals, memory, log, supervisor."""
