"""The sockets: who may connect, what comes in, what goes out."""
