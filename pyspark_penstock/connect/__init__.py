"""Connections to a server: addresses, login, retries, and the state that XINFO reports."""
