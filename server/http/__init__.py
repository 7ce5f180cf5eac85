"""HTTP/1.1 on the server's own transports, in the server's turns: connections, messages, sites."""
