"""The commands of sets."""
