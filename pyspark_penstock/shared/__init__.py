"""Reading as one of the consumers of a consumer group."""
