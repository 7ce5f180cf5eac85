"""Client-side caching: which clients have read which keys, and are told of changes."""
