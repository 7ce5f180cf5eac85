"""Connections to a server: where it is, how to log in, what to retry, what XINFO says."""
