"""LOLWUT."""

from __future__ import annotations

import random

from protocol.replies import Reply, Verbatim
from server.commands.admin import penstock_drawing
from server.dispatch.call import Call
from server.process import build
from server.table.args import Args
from server.table.command import Flags, command

GATE, HEAD = 6, 4  # what is drawn if nothing is asked for


@command(
    "LOLWUT",
    arity=-1,
    flags=Flags.READONLY | Flags.FAST,
    group="server",
    since="5.0.0",
    complexity="",
)
def lolwut(call: Call) -> Reply:
    """Draws a penstock: how far its gate is open (0 to 10), how high the water stands (2 to 20).

    LOLWUT [VERSION version] [gate [head]]

    There is one drawing, whatever the version.
    """
    args = Args(call.argv)
    if args.take_word(b"VERSION") and args.left():
        args.take_int()
    gate = args.take_int() if args.left() else GATE
    head = args.take_int() if args.left() else HEAD
    turn = random.random()  # noqa: S311  (a drawing keeps no secrets)
    drawing = penstock_drawing.draw(head, gate, turn)
    versions = f"Penstock ver. {build.VERSION}, Redis ver. {build.REDIS_VERSION}"
    return Verbatim(f"{drawing}\n{versions}\n".encode())
