"""Compile the core in place: ``python build_ext.py [module ...]``, by default all modules.

``python build_ext.py --possible`` says whether this machine can compile, and if not, why.

A module is compiled if there is a .pxd beside its .py. The .py is ordinary typed Python and also
runs uncompiled; the .pxd only adds C types. Modules that are up to date are not compiled again. But
if a .pxd has changed, all are, since the layout of its classes is in the modules that use them.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from Cython.Compiler.Nodes import CClassDefNode
from setuptools import Extension, setup

PACKAGES = ("protocol", "storage", "server")
CLASS_DIRECTIVES = ("no_gc", "freelist")
EPOLL = "server.network.epoll."  # on Linux alone; nothing imports it elsewhere


def compiled_modules() -> list[str]:
    """All modules with a .pxd, by dotted name, except those that this system does not support."""
    modules = [
        ".".join(pxd.with_suffix("").parts)
        for package in PACKAGES
        for pxd in sorted(Path(package).rglob("*.pxd"))
        if pxd.with_suffix(".py").exists() and pxd.name != "__init__.pxd"
    ]
    return [name for name in modules if hasattr(select, "epoll") or not name.startswith(EPOLL)]


def inlined_only(module: str) -> bool:
    """Whether the .pxd of *module* has only inline functions: then its .py is never compiled."""
    source = Path(*module.split(".")).with_suffix(".pxd").read_text()
    return source.startswith("# inline only")


def declares_commands(module: str) -> bool:
    """Whether *module* holds handlers of commands."""
    return "\n@command(" in Path(*module.split(".")).with_suffix(".py").read_text()


def remove_orphans() -> None:
    """Remove compiled modules whose source is gone: they could still be imported."""
    for package in PACKAGES:
        for built in Path(package).rglob("*.so"):
            if not Path(built.parent, built.name.split(".")[0] + ".py").exists():
                built.unlink()


def obstacle() -> str | None:
    """Why this machine cannot compile, and what to do about it; None if it can."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if not shutil.which(os.environ.get("CC", compiler)):
        return "there is no C compiler (on Debian: apt-get install gcc)"
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return "Python.h is missing (on Debian: apt-get install python3-dev)"
    return None


def layout_changed() -> bool:
    """Whether some .pxd is newer than some compiled module."""
    paths = [path for package in PACKAGES for path in Path(package).rglob("*.*")]
    declared = [path.stat().st_mtime for path in paths if path.suffix == ".pxd"]
    built = [path.stat().st_mtime for path in paths if path.suffix == ".so"]
    return bool(built) and max(declared) > min(built)


def keep_class_directives() -> None:
    """Let CLASS_DIRECTIVES that stand above a class in a .pxd hold for the class.

    Cython itself puts those of the .py in their place, where there are none.
    """
    analyse = CClassDefNode.analyse_declarations

    def analyse_and_keep(node: CClassDefNode, env: Any) -> None:
        entry = env.lookup_here(node.class_name)
        scope = entry.type.scope if entry is not None and entry.is_type else None
        declared = dict(scope.directives) if scope is not None else {}
        analyse(node, env)
        kept = {name: declared[name] for name in CLASS_DIRECTIVES if declared.get(name)}
        if kept:
            node.scope.directives = {**node.scope.directives, **kept}

    CClassDefNode.analyse_declarations = analyse_and_keep


# Here, and not in main(), since Cython translates in processes of its own: those that are not
# forked run this file again.
keep_class_directives()


def cythonized(modules: list[str], annotation_typing: bool, force: bool) -> list[Extension]:
    """Translate *modules* to C where that is not up to date; return the extensions."""
    extensions = [
        Extension(
            name,
            [name.replace(".", "/") + ".py"],
            extra_compile_args=["-O3", "-g0", "-fno-semantic-interposition", "-w"],
        )
        for name in modules
    ]
    made: list[Extension] = cythonize(
        extensions,
        compiler_directives={"language_level": "3", "annotation_typing": annotation_typing},
        build_dir="build/cython",
        force=force,
        nthreads=os.cpu_count() or 1,
        quiet=True,
    )
    return made


def main(wanted: list[str]) -> None:
    os.chdir(Path(__file__).parent)
    remove_orphans()
    modules = [m for m in (wanted or compiled_modules()) if not inlined_only(m)]
    # Handlers of commands get their C types from annotations. Where the .pxd declares every
    # function, annotations are for readers and mypy: Cython would take ``int`` for a Python object.
    handlers = [m for m in modules if declares_commands(m)]
    core = [m for m in modules if m not in handlers]
    force = not wanted and layout_changed()
    setup(
        name="penstock-core",
        packages=[],
        ext_modules=cythonized(core, annotation_typing=False, force=force)
        + cythonized(handlers, annotation_typing=True, force=force),
        script_args=[
            "-q", "build_ext", "--inplace", "--build-temp", "build/temp",
            "--parallel", str(os.cpu_count() or 1),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["--possible"]:
        why_not = obstacle()
        if why_not:
            sys.exit(f"The core cannot be compiled, so the server will be slow: {why_not}.")
    else:
        main(sys.argv[1:])
