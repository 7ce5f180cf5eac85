"""What is told of all streams: the figures of each, the names of all, and the sums."""
