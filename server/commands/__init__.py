"""One module for each family of commands. Importing this package fills the table."""

from importlib import import_module
from pkgutil import iter_modules

for _family in iter_modules(__path__, __name__ + "."):
    import_module(_family.name)
