"""Sockets served by an epoll of the server's own, in compiled code: TCP and unix, on Linux."""
