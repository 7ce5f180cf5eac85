"""TLS: between the transport of a socket and a connection, whichever backend serves the socket."""
