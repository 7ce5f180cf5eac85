"""The commands by which people watch the server: MONITOR, SLOWLOG, LATENCY, MEMORY."""
