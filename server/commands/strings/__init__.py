"""The commands of strings."""
