"""The geo commands."""
