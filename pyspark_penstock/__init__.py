"""The Spark data source for Redis streams; it reaches a server over the network only."""
