"""``penstock top``: the streams of a server, live in a terminal (docs/monitoring.md)."""
