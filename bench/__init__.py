"""Measurements: Penstock beside Redis and Valkey, and demos on real data."""
