"""The side of a replica: dialling its primary, loading the copy, applying the stream."""
