"""One folder for each family of commands. Importing this package fills the table."""

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, __name__ + "."):
    import_module(_module.name)
