"""Compile the core: ``python build_ext.py [name ...]``, by default all modules, in place.

A name is that of a module, or of a package with all its modules.
``python build_ext.py --variant debug [name ...]`` builds another one of build_core/variants.py.
``python build_ext.py --possible`` says whether this machine can compile, and if not, why.

A module is compiled if there is a .pxd beside its .py. The .py is ordinary typed Python and also
runs uncompiled; the .pxd only adds C types. First Cython translates modules to C, then the
C compiler compiles those whose C has changed; ``build_core/`` has both steps. What was done when a
build is stopped need not be done again.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from build_core.compilation import compile_all, must_compile, put_in_place
from build_core.modules import (
    PACKAGES,
    SHARED_CODE,
    compiled_modules,
    declared_modules,
    obstacle,
)
from build_core.shared_code import SharedCode
from build_core.translation import Translation, stale, translate_all
from build_core.variants import NORMAL, VARIANTS, Variant

PROCESSES = os.cpu_count() or 1


def declares_commands(module: str) -> bool:
    """Whether *module* holds handlers of commands."""
    return "\n@command(" in Path(*module.split(".")).with_suffix(".py").read_text()


def modules_of(variant: Variant, wanted: list[str]) -> list[str]:
    """The modules to compile: those *wanted*, or all. Cython by itself shares no code."""
    return [
        name
        for name in compiled_modules()
        if not (variant.is_plain and name == SHARED_CODE)
        and (not wanted or any(f"{name}.".startswith(f"{one}.") for one in wanted))
    ]


def remove_orphans(variant: Variant) -> None:
    """Remove compiled modules whose source is gone: they could still be imported."""
    for package in PACKAGES:
        for built in (variant.modules / package).rglob("*.so"):
            folder = built.parent.relative_to(variant.modules)
            if not Path(folder, built.name.split(".")[0] + ".py").exists():
                built.unlink()


def progress(step: str, count: int) -> Callable[[str], None]:
    """A function to call after each of *count* modules: it prints how far *step* is, ten times."""
    done = 0

    def told(_module: str) -> None:
        nonlocal done
        done += 1
        if done * 10 // count > (done - 1) * 10 // count:
            print(f"{step} {done} of {count} modules", flush=True)

    return told


@contextmanager
def alone() -> Iterator[None]:
    """Wait for other builds in this folder to end, and let later ones wait for this one."""
    lock = Path("build", ".lock")
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another build ...", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(variant: Variant, wanted: list[str]) -> None:
    remove_orphans(variant)
    # Handlers of commands get their C types from annotations. Where the .pxd declares every
    # function, annotations are for readers and mypy: Cython would take ``int`` for a Python object.
    modules = [
        SharedCode(variant)
        if name == SHARED_CODE
        else Translation(name, declares_commands(name), variant)
        for name in modules_of(variant, wanted)
    ]
    to_translate = list(stale(modules, PACKAGES))
    told = progress("Translated", len(to_translate))
    for module in translate_all(to_translate, declared_modules(), PROCESSES):
        told(module.name)
    sources = {module.name: module.c_file for module in modules}
    to_compile = {name: c for name, c in sources.items() if must_compile(name, c, variant)}
    compile_all(to_compile, variant, PROCESSES, progress("Compiled", len(to_compile)))
    put_in_place(sources, variant)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once: what is done so far stays
    os.chdir(Path(__file__).parent)
    if sys.argv[1:] == ["--possible"]:
        why_not = obstacle()
        if why_not:
            sys.exit(f"The core cannot be compiled, so the server will be slow: {why_not}.")
    else:
        named = sys.argv[1:2] == ["--variant"]
        with alone():
            if named:
                main(VARIANTS[sys.argv[2]], sys.argv[3:])
            else:
                main(NORMAL, sys.argv[1:])
