"""The commands of lists."""
