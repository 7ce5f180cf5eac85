"""What drives a fuzz target that takes bytes: atheris, or random changes of inputs that are known.

atheris is guided by the branches that plain Python takes. Without it inputs are changed blindly: on
the sanitized core, too, which bears no second sanitizer besides its own. They are the target's own
and those that atheris has kept in build/fuzz/ from earlier runs.

    -max_total_time=60      seconds
    -artifact_prefix=FOLDER/    where an input is put that was found; build/fuzz/ if not told
    -seed=7                 of the random changes
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any

from fuzz.findings import finding_path

try:
    if os.environ.get("PENSTOCK_VARIANT"):
        raise ImportError
    import atheris
except ImportError:
    atheris = None

ROOT = Path(__file__).parent.parent
CORPORA = ROOT / "build" / "fuzz"
MOST_CHANGES = 6  # of one input
LONGEST_RUN = 40  # bytes that one change adds or takes
NUMBERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**64 - 1,
)

Target = Callable[[bytes], None]


def instrument_imports(include: list[str]) -> AbstractContextManager[Any]:
    """What is imported within it from the packages *include* guides the fuzzer."""
    if atheris is None:
        return nullcontext()
    guided: AbstractContextManager[Any] = atheris.instrument_imports(include=include)
    return guided


def instrument_func(function: FunctionType) -> FunctionType:
    """*function*, which guides the fuzzer."""
    if atheris is None:
        return function
    guided: FunctionType = atheris.instrument_func(function)
    return guided


def run(test_one: Target, name: str, seeds: Iterable[bytes]) -> None:
    """Call *test_one* with input after input, which come from *seeds*, until the time is over."""
    corpus = CORPORA / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"known-{number}").write_bytes(seed)
    if atheris is not None:
        atheris.Setup([*sys.argv, str(corpus)], test_one)
        atheris.Fuzz()
    else:
        options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
        _run_blindly(
            test_one, name, [path.read_bytes() for path in sorted(corpus.iterdir())], options
        )


def _run_blindly(test_one: Target, name: str, known: list[bytes], options: dict[str, str]) -> None:
    """Each input is written to a file before it is tried, since the process may end with it."""
    seed = int(options.get("seed", time.time_ns() // 1000))
    dice = Random(seed)
    tried = finding_path(options, f"{name}-{seed}")
    end_s = time.monotonic() + int(options.get("max_total_time", 60))
    count = 0
    while time.monotonic() < end_s:
        data = changed(dice.choice(known), known, dice) if count >= len(known) else known[count]
        tried.write_bytes(data)
        test_one(data)
        count += 1
    tried.unlink()
    print(f"{name}: {count} inputs, made of {len(known)} by seed {seed}: nothing found")


def changed(data: bytes, known: list[bytes], dice: Random) -> bytes:
    """*data* after some random changes, which may take bytes from other *known* inputs."""
    made = bytearray(data)
    for _ in range(dice.randint(1, MOST_CHANGES)):
        at = dice.randint(0, len(made))
        size = dice.randint(1, LONGEST_RUN)
        match dice.randrange(7):
            case 0 if at < len(made):
                made[at] ^= 1 << dice.randrange(8)
            case 1 if at < len(made):
                made[at] = dice.randrange(256)
            case 2:
                del made[at : at + size]
            case 3:
                made[at:at] = made[dice.randint(0, len(made)) :][:size]
            case 4:
                other = dice.choice(known)
                start = dice.randint(0, len(other))
                made[at : at + size] = other[start : start + dice.randint(0, 4 * size)]
            case 5:
                width = dice.choice((1, 2, 4, 8))
                number = dice.choice(NUMBERS) & (1 << 8 * width) - 1
                made[at : at + width] = number.to_bytes(width, dice.choice(("little", "big")))
            case _:
                made[at:at] = dice.randbytes(size)
    return bytes(made)
