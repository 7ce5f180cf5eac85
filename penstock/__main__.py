"""``python -m penstock``: the same as the command ``penstock``."""

import sys

from penstock.command_line import main

sys.exit(main(command="python -m penstock"))
