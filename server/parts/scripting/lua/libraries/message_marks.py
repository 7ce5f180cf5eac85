"""MessagePack: the byte that a value begins with.

    00..7f  a number               cc cd ce cf  unsigned, 1 2 4 8 bytes     c0     nil
    80..8f  a map of so many       d0 d1 d2 d3  signed, 1 2 4 8 bytes       c2 c3  false, true
    90..9f  an array of so many    d9 da db     a string, length in 1 2 4   ca cb  a real, 4 8 bytes
    a0..bf  a string of so many    dc dd        an array, count in 2 4
    e0..ff  a number, -32..-1      de df        a map, count in 2 4         all else is wrong

All numbers are big endian.
"""

from __future__ import annotations

MAP, ARRAY, STRING, NEGATIVE = 0x80, 0x90, 0xA0, 0xE0
NIL, FALSE, TRUE, SINGLE, DOUBLE = 0xC0, 0xC2, 0xC3, 0xCA, 0xCB
UINT_8, UINT_64, INT_8, INT_64 = 0xCC, 0xCF, 0xD0, 0xD3
STRING_8, STRING_16, STRING_32 = 0xD9, 0xDA, 0xDB
ARRAY_16, ARRAY_32, MAP_16 = 0xDC, 0xDD, 0xDE
