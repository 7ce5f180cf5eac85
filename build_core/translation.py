"""Modules to C, by Cython: every .pxd is read once, and serves all modules.

Left to itself, Cython reads for each module all .pxd files that the module cimports, directly or
through others. These are about a hundred, the same for most modules, and reading them takes longer
than the module itself: by itself, it takes a second of CPU for each of 90 modules. Here one process
reads all .pxd files, then a fork of it translates each module. What a module does to the
declarations ends with its fork. So the C of a module depends on the sources alone, not on what is
translated beside it, nor in which order.

    build/cython/storage/glob.c       the C
    build/cython/storage/glob.c.of    the digest of the sources that it was made of

A module is translated if that digest has changed. If its C comes out the same, the file stays as it
is, and is not compiled again.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import Cython
from Cython.Compiler import Errors
from Cython.Compiler.Main import Context, compile_single
from Cython.Compiler.Options import CompilationOptions, default_options

from build_core.class_directives import keep_class_directives
from build_core.fixed_attributes import FixedAttributes
from build_core.held_receivers import hold_receivers
from build_core.inline_functions import leave_out_unreached_functions
from build_core.modules import PACKAGES, SHARED_CODE
from build_core.reached_imports import leave_out_unused_imports, mark_imports
from build_core.utility_requirements import complete_requirements
from build_core.variants import NORMAL, Variant

LATER_STEPS = ("compilation.py", "variants.py", "wheel.py")  # the C does not depend on them
DIRECTIVES = {
    "language_level": "3",
    "emit_code_comments": False,
    # Nothing pickles objects of the core; what Cython writes for that is 14 % more machine code.
    "auto_pickle": False,
    # Functions are like those written in C: nobody looks at their code or annotations. To make
    # them objects that know these was a sixth of what the server does when it starts.
    "binding": False,
}


@dataclass(frozen=True)
class Translation:
    """A module, and whether its annotations give C types."""

    name: str
    annotation_typing: bool
    variant: Variant = NORMAL

    @property
    def directives(self) -> dict[str, Any]:
        return {**DIRECTIVES, "annotation_typing": self.annotation_typing}

    @property
    def source(self) -> Path:
        return Path(*self.name.split(".")).with_suffix(".py")

    @property
    def c_file(self) -> Path:
        return self.variant.c_files.joinpath(*self.name.split(".")).with_suffix(".c")

    @property
    def stamp(self) -> Path:
        return self.c_file.with_suffix(".c.of")

    def write_c(self, context: Declarations | None, target: Path) -> bool:
        """Write the C to *target*. Return whether it was right; if not, Cython has said why."""
        if context is None:
            return self._write_plain_c(target)
        context.options = options(self.directives, str(target))
        context.compiler_directives = context.options.compiler_directives
        result = compile_single(str(self.source), context.options, self.name, context=context)
        return not result.num_errors

    def _write_plain_c(self, target: Path) -> bool:
        """Write what Cython writes by itself, with its own directives."""
        directives = {"annotation_typing": self.annotation_typing}
        own = CompilationOptions(
            default_options,
            compiler_directives=directives,
            language_level=3,
            output_file=str(target),
        )
        return not compile_single(str(self.source), own, self.name).num_errors


def options(directives: dict[str, Any], target: str | None = None) -> CompilationOptions:
    return CompilationOptions(
        default_options,
        compiler_directives=directives,
        language_level=3,
        output_file=target,
        shared_utility_qualified_name=SHARED_CODE,
    )


def digest(translation: Translation, shared: list[Path], fixed: str) -> str:
    """A digest of what the C of a module depends on.

    These are Cython, which attributes are *fixed*, the *shared* files, and its own .py.
    """
    variant = translation.variant
    told = (translation.name, translation.directives, variant.checks, variant.is_plain, fixed)
    summed = hashlib.sha256(f"{Cython.__version__} {told}".encode())
    for path in (*shared, translation.source):
        summed.update(b"\0%s\0" % str(path).encode() + path.read_bytes())
    return summed.hexdigest()


def shared_files(packages: tuple[str, ...]) -> list[Path]:
    """The files that the C of every module depends on: all .pxd files, and what translates."""
    pxds = (path for package in packages for path in Path(package).rglob("*.pxd"))
    ours = (path for path in Path("build_core").glob("*.py") if path.name not in LATER_STEPS)
    return sorted((*pxds, *ours))


class Declarations(Context):  # type: ignore[misc]  # Cython has no types
    """Cython's Context, which also has what the .pxd files define, by the whole names of modules.

    Cython's own ``pxds`` knows a module by the name by which it is cimported, so of two modules
    with the same last name only one. *checks* are directives that count more than those at the top
    of a file.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.functions: dict[str, tuple[Any, Any]] = {}
        self.checks: Mapping[str, bool] = {}
        super().__init__(*args, **kwargs)

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        tree = super().parse(*args, **kwargs)
        tree.directive_comments.update(self.checks)
        return tree

    def process_pxd(self, source: Any, scope: Any, module: str) -> Any:
        error, result = super().process_pxd(source, scope, module)
        if error is None and not source.in_utility_code:
            self.functions[module] = result
        return error, result


def read_declarations(modules: list[str], variant: Variant) -> Declarations:
    """Read the .pxd files of *modules* and all that they cimport. Exit if one of them is wrong."""
    context: Declarations = Declarations.from_options(options(DIRECTIVES))
    context.checks = variant.checks
    Errors.open_listing_file(None)
    for module in modules:
        context.find_module(module)
    if Errors.get_errors_count():
        sys.exit("The .pxd files are not right.")
    return context


def translate(context: Declarations | None, translation: Translation, stamp: str) -> bool:
    """Write the C of one module, if it has changed. Return whether the module was right.

    Without a *context* the C is left as Cython has written it.
    """
    new = translation.c_file.with_suffix(".new.c")
    new.parent.mkdir(parents=True, exist_ok=True)
    translation.stamp.unlink(missing_ok=True)
    if not translation.write_c(context, new):
        return False
    if context is not None:
        new.write_text(leave_out_unused_imports(new.read_text()))
    if translation.c_file.exists() and translation.c_file.read_bytes() == new.read_bytes():
        new.unlink()
    else:
        new.replace(translation.c_file)
    translation.stamp.write_text(stamp)
    return True


def in_fork(work: Callable[[], bool]) -> int:
    """Let a fork of this process do *work*, and exit with 0 if it returns True. Return its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        right = work()
    except BaseException:
        traceback.print_exc()
        right = False
    sys.stderr.flush()
    os._exit(0 if right else 1)


def stale(
    translations: list[Translation], packages: tuple[str, ...]
) -> Iterator[tuple[Translation, str]]:
    """Those without C that was made of these sources, with the digest to be."""
    shared, fixed = shared_files(packages), FixedAttributes(packages).summary()
    for translation in translations:
        stamp = digest(translation, shared, fixed)
        made_of = translation.stamp.read_text() if translation.stamp.exists() else None
        if made_of != stamp or not translation.c_file.exists():
            yield translation, stamp


def _prepared(declared: list[str], variant: Variant) -> Declarations:
    """All declarations, read by a Cython that is changed as build_core/ wants it."""
    keep_class_directives()
    leave_out_unreached_functions()
    mark_imports()
    complete_requirements()
    hold_receivers(FixedAttributes(PACKAGES))
    return read_declarations(declared, variant)


def translate_all(
    translations: list[tuple[Translation, str]], declared: list[str], processes: int
) -> Iterator[Translation]:
    """Translate, *processes* at a time; yield each translation when it is done.

    *declared* are all modules that have a .pxd; all translations are of one variant. Exit if one
    fails.
    """
    if not translations:
        return
    gc.disable()  # declarations are kept to the end, and the forks share their memory
    variant = translations[0][0].variant
    context = None if variant.is_plain else _prepared(declared, variant)
    running: dict[int, Translation] = {}
    waiting = list(reversed(translations))
    while waiting or running:
        while waiting and len(running) < processes:
            translation, stamp = waiting.pop()
            work = partial(translate, context, translation, stamp)
            running[in_fork(work)] = translation
        pid, status = os.wait()
        if status:
            sys.exit(f"{running[pid].source} is not right.")
        yield running.pop(pid)
