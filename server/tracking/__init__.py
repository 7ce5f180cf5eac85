"""Client-side caching: who has read which keys, and who is told that they have changed."""
