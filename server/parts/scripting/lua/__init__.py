"""Lua 5.1, as scripts see it: the interpreter, its libraries, values to and from RESP.

Nothing here knows clients or the keyspace.
"""
