"""The items of the key table in their bytes. Compiled, these numbers are constants of C.

item      key | last use | kind | cell
key       a text, written as storage/hash_table/packed_octets.py shows
last use  a number of 32 bits, little-endian; storage/keyspace/usage.py has its meaning
kind      a byte: what the cell holds
cell      a text, which is

    kind 0  TEXT     a string of up to 511 bytes
    kind 1  NUMBER   an int: 8 bytes, little-endian
    kind 2  OBJECT   the value is an object, and has a number in *far*: a far text, or one of
                     4 bytes or more that begins with the number
    kind 16 + n      a small value of the type with that number (storage/value_type.py), in
                     the bytes that its type packs it as
"""

from __future__ import annotations

TEXT = 0
NUMBER = 1
OBJECT = 2
PACKED = 16  # and all above

USE = 4  # bytes of the last use
NUMBER_CELL = 9  # bytes
