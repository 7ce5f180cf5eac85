"""Where a command comes from. Each check of admission says for which origins it holds.

They are bits, so that a check can name several.
"""

from __future__ import annotations

CLIENT = 1  # read from a client's socket
EXEC = 2  # queued since MULTI
SCRIPT = 4  # called by a script or a function
WOKEN = 8  # run again, because a key that its client waits for is ready
LOG = 16  # read from the append-only file
PRIMARY = 32  # received over the replication link

INSIDE = EXEC | SCRIPT  # runs inside another command: it must not wait
REPLAYED = LOG | PRIMARY  # has run before: it does now what it did then
