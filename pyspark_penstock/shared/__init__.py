"""Reading as a consumer of a consumer group that is shared with others."""
