"""Clients that wait: for keys, for a pause to end, for what is durable."""
