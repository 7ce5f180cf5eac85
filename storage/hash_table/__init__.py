"""Hash tables of many small segments: extendible hashing, and a table of packed byte strings."""
