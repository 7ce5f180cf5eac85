"""The commands of keys, whatever type their values have."""
