"""Sorted sets: a listpack while they are small, a counted tree afterwards."""
