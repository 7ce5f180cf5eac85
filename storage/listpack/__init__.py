"""Redis's listpack: many small values in one run of bytes."""
