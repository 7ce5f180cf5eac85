"""Pub/sub: who is subscribed to what, messages on their way, keyspace notifications."""
