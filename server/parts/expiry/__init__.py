"""Keys and fields whose time is over: how they are removed, and when."""
