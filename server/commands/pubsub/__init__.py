"""SUBSCRIBE and its like, PUBLISH, PUBSUB."""
