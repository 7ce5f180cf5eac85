"""Penstock as others install it: the command ``penstock``, and the way to its server.

Light to import, and free of the server's own packages: these run in processes of their own.
"""

__version__ = "0.1.0"
