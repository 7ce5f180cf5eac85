"""Keys and fields whose time is over: who removes them, and when."""
