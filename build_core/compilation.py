"""C to modules that Python imports: ``glob.c`` to ``storage/glob.cpython-...so``.

A compiled module does not go with others that are not compiled, or that are of other sources. So
modules wait where Python does not look for them, and are put in place when all are done.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

from build_core.modules import SHARED_CODE
from build_core.variants import NORMAL, Variant

SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")
WAITING = "waiting"
# The tables for unwinding stay (6 % of all bytes): by them a crash report has the whole stack of C.
FLAGS = ["-g0", "-fno-semantic-interposition"]
# Cython's code is not warned of, but what newer compilers refuse, older ones refuse here, too.
FLAGS += [
    "-Wno-all",
    "-Wno-sign-compare",
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
]
# A number was shifted out of its C type: a .pxd is wrong.
FLAGS += ["-Werror=shift-count-overflow"]
# Where the processor can multiply and add in one step (every arm64, and x86-64 with -mfma), gcc
# lets it, and that rounds once instead of twice. Then places and distances have other digits than
# in Python, and than those of Redis on x86-64.
FLAGS += ["-ffp-contract=off"]
# A module's texts lie in it as they are: to unpack them took time at each start.
FLAGS += ["-DCYTHON_COMPRESS_STRINGS=0"]
# What runs once, when a module is imported, is not worth optimising.
FLAGS += ['-DCYTHON_SMALL_CODE=__attribute__((cold,optimize("O0")))']

# Small functions called in loops: inlined more eagerly, a request needs up to a seventh fewer
# instructions. In the rest that is not to be seen, and takes a tenth longer to compile.
INLINED_EAGERLY = (
    "protocol.", "storage.", "server.commands.streams.", "server.commands.lists.",
    "server.client.", "server.dispatch.", "server.network.", "server.process.timekeeper",
    "server.commands.shared.", "server.table.", "server.parts.eviction.",
    "server.parts.persistence.", "server.parts.propagation.", "server.parts.waiting.",
    "server.parts.restrictions", "server.parts.server_key_events", "server.parts.watching",
)  # fmt: skip


def flags_of(module: str, variant: Variant = NORMAL) -> list[str]:
    """What the C compiler is told for *module*, besides what Python was compiled with."""
    if variant.is_plain:
        return list(variant.flags)
    level = "-O3" if module.startswith(INLINED_EAGERLY) else "-O2"
    return [level, *FLAGS, *variant.flags]


def noted_flags(variant: Variant) -> Path:
    """A file that was written when the flags of *variant* changed the last time."""
    noted = variant.objects / "flags"
    told = f"{FLAGS} {INLINED_EAGERLY} {variant}"
    if not noted.exists():
        noted.parent.mkdir(parents=True, exist_ok=True)
        noted.write_text(told)
        os.utime(noted, (0, 0))  # what was compiled so far has had no others
    elif noted.read_text() != told:
        noted.write_text(told)
    return noted


def compiled_file(module: str, variant: Variant = NORMAL) -> Path:
    """Where the compiled *module* is: of the normal variant, beside its source."""
    return variant.modules / _file_name(module)


def waiting_file(module: str, variant: Variant = NORMAL) -> Path:
    """Where the compiled *module* is until all others are done, too."""
    return variant.objects / WAITING / _file_name(module)


def _file_name(module: str) -> str:
    return module.replace(".", "/") + SUFFIX


def must_compile(module: str, source: Path, variant: Variant) -> bool:
    """Whether *module* is not compiled, or was before its C or its flags have changed."""
    newest = max(path.stat().st_mtime for path in (source, noted_flags(variant)))
    made = (waiting_file(module, variant), compiled_file(module, variant))
    return not any(path.exists() and path.stat().st_mtime >= newest for path in made)


def put_in_place(modules: Iterable[str], variant: Variant) -> None:
    """Let Python find those of *modules* that are compiled and wait, the shared code last.

    A process that finds it finds all: see server/__main__.py.
    """
    for module in sorted(modules, key=lambda module: module == SHARED_CODE):
        waiting, place = waiting_file(module, variant), compiled_file(module, variant)
        if waiting.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            waiting.replace(place)


def compile_all(
    sources: dict[str, Path], variant: Variant, processes: int, told: Callable[[str], None]
) -> None:
    """Compile the C of each module, *processes* at a time; report each when it is done.

    What is compiled waits to be put in place.
    """
    if not sources:
        return

    class Compilation(build_ext):  # type: ignore[misc]  # setuptools has no types
        def build_extension(self, extension: Any) -> None:
            super().build_extension(extension)
            told(extension.name)

    # The longest first, so that in the end no processor waits for another.
    modules = sorted(sources, key=lambda module: -sources[module].stat().st_size)
    setup(
        name="penstock-core",
        packages=[],
        ext_modules=[
            Extension(
                module,
                [str(sources[module])],
                depends=[str(noted_flags(variant))],
                extra_compile_args=flags_of(module, variant),
                extra_link_args=list(variant.link_flags),
            )
            for module in modules
        ],
        cmdclass={"build_ext": Compilation},
        script_args=[
            "-q", "build_ext", "--build-lib", str(variant.objects / WAITING),
            "--build-temp", str(variant.objects), "--parallel", str(processes),
        ],
    )  # fmt: skip
