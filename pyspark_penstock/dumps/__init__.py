"""Reading streams and keys from dumps (RDB files, append-only files), without a server."""
