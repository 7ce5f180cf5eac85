"""One folder for each family of commands. Importing this package begins to fill the table.

What a client says first, when it connects, is there at once. To import all others takes longer
than all else that the server does until it listens. So they follow when it serves, a module at a
time, or all at once when somebody asks for one of them (CommandTable).
"""

import os
from importlib import import_module

from protocol.requests import know_names
from server.table.command import TABLE

FIRST = "connection"
SHARED = "shared"  # no family: what several families use

_HERE = os.path.dirname(__file__)


def modules_of(family: str) -> list[str]:
    """The names of the modules in the folder *family*, and in those within it."""
    found = []
    for folder, _, files in os.walk(os.path.join(_HERE, family)):
        package = os.path.relpath(folder, _HERE).replace(os.sep, ".")
        names = [name.removesuffix(".py") for name in files if name.endswith(".py")]
        found += [f"{__name__}.{package}.{name}" for name in names if name != "__init__"]
    return sorted(found)


class Others:
    """Iterates over the modules of all families but the first, and imports them.

    One that cannot be imported, for lack of memory perhaps, is tried again at the next step.
    """

    def __init__(self) -> None:
        folders = [name for name in os.listdir(_HERE) if os.path.isdir(os.path.join(_HERE, name))]
        self._families = sorted(folders, reverse=True)
        self._families.remove(FIRST)
        self._families.remove(SHARED)
        self._modules: list[str] = []

    def __iter__(self) -> "Others":
        return self

    def __next__(self) -> None:
        while not self._modules:
            if not self._families:
                raise StopIteration
            self._modules = modules_of(self._families.pop())[::-1]
        import_module(self._modules[-1])
        self._modules.pop()
        if not self._modules and not self._families:
            know_names(TABLE.by_spelling)


for _name in modules_of(FIRST):
    import_module(_name)
TABLE.go_on_with(Others())
