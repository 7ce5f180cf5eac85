"""Reading: batch reads and streaming queries, as ranges of entry ids."""
