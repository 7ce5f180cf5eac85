"""A primary and its replicas: the history that they share, copies of all data, and the link."""
