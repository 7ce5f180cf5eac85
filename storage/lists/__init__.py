"""Lists: the quicklist."""
