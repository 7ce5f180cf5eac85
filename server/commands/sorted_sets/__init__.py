"""The commands of sorted sets."""
