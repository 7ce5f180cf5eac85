"""How the core can be built: for use, and in three ways that find faults.

    normal      beside the sources, as fast as can be: what is served, measured and packed
    sanitized   the same C, with AddressSanitizer and UndefinedBehaviorSanitizer
    debug       other C, with Cython's checks of indices and None, of overflows, and all assertions
    plain       the C that Cython writes by itself: nothing of build_core/ has a hand in it

The modules of the last three lie in folders of their own. `make sanitize`, `make test-debug` and
`make test-plain` copy them beside a copy of the sources, and run tests there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Variant:
    """Where the files of a variant lie, and what the two compilers are told besides the usual."""

    name: str
    c_files: Path  # the folder of what Cython writes
    objects: Path  # of what the C compiler writes
    modules: Path  # of what Python imports
    checks: Mapping[str, bool] = field(default_factory=dict)  # whatever a module says of itself
    flags: tuple[str, ...] = ()  # of the C compiler, after all others
    link_flags: tuple[str, ...] = ()
    is_plain: bool = field(default=False, repr=False)  # Cython and gcc are left to themselves


NORMAL = Variant(
    "normal",
    c_files=Path("build/cython"),
    objects=Path("build/temp"),
    modules=Path(),
)

# Of what is undefined, what numbers do. Pointers that lead nowhere AddressSanitizer sees alone, and
# to look for them at each step takes half as long again to compile.
NUMBERS = "signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow"
SANITIZERS = f"-fsanitize=address,{NUMBERS}"

SANITIZED = Variant(
    "sanitized",
    c_files=NORMAL.c_files,
    objects=Path("build/sanitized-objects"),
    modules=Path("build/sanitized-core"),
    flags=(
        # To compile is half of what this leg costs. Calls in place of checks written out, and no
        # optimising, take gcc half the time of -Og (2.2 s of 4.1 for server/table/command.c).
        "-O0", "-g1", "-fno-omit-frame-pointer",
        SANITIZERS, "--param=asan-instrumentation-with-call-threshold=0",
        "-fno-wrapv",  # Python asks for it; with it no overflow of a signed number is reported
        "--param=asan-stack=0",  # greenlet copies stacks to and fro, which looks like an underflow
        "-DCYTHON_USE_FREELISTS=0",  # what a free list keeps is not seen to be freed
    ),
    link_flags=(SANITIZERS,),
)  # fmt: skip

DEBUG = Variant(
    "debug",
    c_files=Path("build/debug-cython"),
    objects=Path("build/debug-objects"),
    modules=Path("build/debug-core"),
    checks={"boundscheck": True, "nonecheck": True, "initializedcheck": True},
    flags=(
        "-O0", "-g1",
        "-UNDEBUG",  # CPython's macros and Cython's functions have assertions
        # No library is needed: an overflow ends the process with SIGILL.
        f"-fsanitize={NUMBERS}", "-fsanitize-undefined-trap-on-error", "-fno-wrapv",
    ),
)  # fmt: skip

# What runs once is most of the time of its tests: to optimise takes longer than it saves.
PLAIN = Variant(
    "plain",
    c_files=Path("build/plain-cython"),
    objects=Path("build/plain-objects"),
    modules=Path("build/plain-core"),
    flags=("-O0", "-g0"),
    is_plain=True,
)

VARIANTS = {variant.name: variant for variant in (NORMAL, SANITIZED, DEBUG, PLAIN)}
