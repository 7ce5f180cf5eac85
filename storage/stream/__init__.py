"""Streams and their consumer groups."""
