"""Runs of bytes, for protocol and storage alike: what both do to their buffers."""
