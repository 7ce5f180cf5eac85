"""The numbers of the RDB format: versions, opcodes, and types of values that are not served.

The types that are served have their numbers in their own folders: see storage/types.py. Redis up to
8.8 and Valkey up to 9 agree on those numbers. Above 21 a number may be another type in Valkey; all
of those are hashes.

Source: rdb.h of Redis 7.0; for later ones https://github.com/redis/librdb
"""

from __future__ import annotations

# ---------------------------------------------------------------------- versions

MAGIC = b"REDIS"  # and four digits
VALKEY_MAGIC = b"VALKEY"  # and three digits, from Valkey 9 on
MAGIC_SIZE = 9
OLDEST_WRITTEN = 10  # of Redis 7.0
WRITTEN_VERSION = 11  # of Redis 7.2: the newest version that a file names, also for newer readers
LATEST_VERSION = 14  # of Redis 8.8
VALKEY_VERSIONS = range(80, 82)  # of Valkey 9.0 and 9.1; those of Valkey 8 are Redis's
FIRST_CHECKED_VERSION = 5  # from here on files end with a CRC64

# ---------------------------------------------------------------------- opcodes

KEY_META = 0xF3  # Redis 8.6: metadata of modules; Valkey 9: a slot that is being imported
SLOT_INFO = 0xF4
FUNCTION = 0xF5
FUNCTION_PRE_GA = 0xF6
MODULE_AUX = 0xF7
IDLE = 0xF8
FREQ = 0xF9
AUX = 0xFA
RESIZE_DB = 0xFB
EXPIRE_MS = 0xFC
EXPIRE_S = 0xFD
SELECT_DB = 0xFE
EOF = 0xFF
FIRST_OPCODE = KEY_META  # numbers below are types of values

# What precedes each value in the auxiliary data of a module.
MODULE_EOF, MODULE_SINT, MODULE_UINT, MODULE_FLOAT, MODULE_DOUBLE, MODULE_STRING = range(6)

# ---------------------------------------------------------------------- types of values

MODULE_VALUES = (6, 7)
# Of its 64 bits, 54 are nine letters, of 6 bits each, and 10 are a version.
MODULE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

# For messages only. A type with a row in storage/types.py may stay in here: its row comes first.
NOT_SERVED = {
    6: "module value (of a release candidate)",
    7: "module value",
    23: "hash",
    28: "array",
    29: "hash (template)",
    30: "hash (template)",
    31: "hash (template)",
    32: "hash (template)",
}


def name_of_type(number: int) -> str:
    """How a message names the RDB type *number*, which is not served."""
    return f"{NOT_SERVED.get(number, 'unknown')}, RDB type {number}"


def name_of_module(number: int) -> str:
    """The name of the type of values that a module has registered as *number*."""
    return "".join(MODULE_LETTERS[number >> shift & 63] for shift in range(58, 9, -6))


def is_readable(version: int, valkey: bool) -> bool:
    """Whether an RDB of that version can be read here; *valkey*: its header says VALKEY."""
    return version in VALKEY_VERSIONS if valkey else 1 <= version <= LATEST_VERSION
