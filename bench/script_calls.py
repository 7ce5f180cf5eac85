"""The calls of scripts that are measured: one GET, and a hundred, by EVAL, EVALSHA and FCALL."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha1
from typing import Final

from bench.client import Command

# The aims of scripts: 0.8 of Redis's rate for one command, 0.5 for a hundred.
ONE: Final = {1: 1.25, 16: 1.25}
HUNDRED: Final = {1: 2.0, 16: 2.0}

KEY: Final = "key:__rand_int__"
GET: Final = "return redis.call('GET', KEYS[1])"
HUNDRED_GETS: Final = "for i = 1, 100 do redis.call('GET', KEYS[1]) end"
LIBRARY: Final = f"#!lua name=bench\nredis.register_function('get', function(KEYS) {GET} end)"

EVAL: Final = ("EVAL", GET, "1", KEY)
EVALSHA: Final = ("EVALSHA", sha1(GET.encode(), usedforsecurity=False).hexdigest(), "1", KEY)
EVAL_HUNDRED: Final = ("EVAL", HUNDRED_GETS, "1", KEY)
FCALL: Final = ("FCALL", "get", "1", KEY)


def some_scripts(keys: Iterator[Command]) -> Iterator[Command]:
    """Load what the calls need, after the commands that make *keys*."""
    yield from keys
    yield ("SCRIPT", "LOAD", GET)
    yield ("FUNCTION", "LOAD", "REPLACE", LIBRARY)
