"""Redis's RDB format: values and whole snapshots to bytes, and back. No files, no clock."""
