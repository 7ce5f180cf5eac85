"""Penstock and redis-server side by side: rates, CPU, memory, waiting; and a demo on real data."""
