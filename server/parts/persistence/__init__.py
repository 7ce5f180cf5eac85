"""What survives the process: snapshots (RDB) and the append-only file."""
