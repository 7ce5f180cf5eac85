"""Who each client is, and what its user may do."""
