"""Commands of replication: of primaries, of replicas, and of those who wait for them."""
