"""Turn this process into one of the application's programs; also a script that does only that.

    python -P penstock/launch.py "penstock serve" --port 7000

The application is four folders, ``server``, ``protocol``, ``storage`` and ``octets``. An
environment may have things of these names that are not ours, in any place where Python looks for
modules. So the application's folder is no such place: a finder of our own leads to it, before all
others.

Little is imported, and nothing that the current folder could hold in its place, until it is gone
from ``sys.path``.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.bundle import Bundle

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = os.path.dirname(HERE)
# A wheel carries the application inside of this package; in a checkout it lies beside it.
INSIDE = os.path.join(HERE, "_application")
FOLDER = INSIDE if os.path.isdir(INSIDE) else BESIDE

APPLICATION = ("server", "protocol", "storage", "octets")
FOLDER_OF = {**dict.fromkeys(APPLICATION, FOLDER), "penstock": BESIDE}

# The name of a program, as usage texts give it, ends with what it is.
PROGRAMS = {
    "serve": "server.__main__",
    "check": "server.check.__main__",
    "redis-server": "server.__main__",
}


class ApplicationFinder:
    """Finds the modules of the application where they are, and no others.

    A wheel has them in a *bundle*, see penstock/bundle.py.
    """

    bundle: Bundle | None = None

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package not in FOLDER_OF:
            return None
        bundled = cls.bundle.find_spec(name) if cls.bundle is not None else None
        if bundled is not None:
            return bundled
        return PathFinder.find_spec(name, path or [FOLDER_OF[package]])


def launch(name: str, argv: list[str]) -> int:
    """Run the program *name*, as "penstock serve", to its end; its exit status.

    The process is the application's from then on: it finds no other ``server`` any more.
    """
    enter_application()
    gc.disable()  # what is imported stays: to look for garbage in it was a tenth of the start
    program = import_module(PROGRAMS[name.rsplit(maxsplit=1)[-1]])
    gc.freeze()
    gc.enable()
    status: int = program.main(argv, name)
    return status


def enter_application() -> None:
    """Let the imports of this process find the application, the standard library, and the rest."""
    if ApplicationFinder in sys.meta_path:
        return
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, or that of the script
    sys.path.sort(key=_is_foreign)
    if BESIDE not in sys.path:
        sys.path.append(BESIDE)  # what pip has put there with us, wherever that is
    for name in list(sys.modules):
        if name.partition(".")[0] in APPLICATION:
            del sys.modules[name]
    sys.meta_path.insert(0, ApplicationFinder)
    from penstock.bundle import Bundle  # noqa: PLC0415  (found by now, wherever that is)

    ApplicationFinder.bundle = Bundle(FOLDER)


def _is_foreign(entry: str) -> bool:
    """Whether this entry of ``sys.path`` is not of the standard library."""
    library = os.path.dirname(os.__file__)
    return entry not in (library, os.path.join(library, "lib-dynload"))


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1], sys.argv[2:]))
