"""Sets: the set with its three encodings, and the intset."""
