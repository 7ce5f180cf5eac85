"""The commands of hashes."""
