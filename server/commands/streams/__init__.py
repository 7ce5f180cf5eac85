"""The commands of streams and consumer groups."""
