"""One folder for each family of commands. Importing this package fills the table."""

import os
from importlib import import_module

_HERE = os.path.dirname(__file__)

for _folder in sorted(os.listdir(_HERE)):
    if os.path.isdir(os.path.join(_HERE, _folder)):
        for _file in sorted(os.listdir(os.path.join(_HERE, _folder))):
            if _file.endswith(".py") and _file != "__init__.py":
                import_module(f"{__name__}.{_folder}.{_file.removesuffix('.py')}")
