"""Hashes: a listpack while they are small, a table afterwards."""
