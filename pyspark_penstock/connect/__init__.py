"""What reaches a server: addresses, connections, retry, and what a server says of its streams."""
