"""Reading: batches and streaming queries, as ranges of entry ids."""
