"""Memory that a class keeps for its next objects: the plain version of the C function in its .pxd.

Cython's ``freelist`` does this for classes without a base; this is for one with a base. To make
and drop an object takes some 80 instructions fewer. A module that calls this has one list, so it
may call it for one class only. The sanitized build keeps nothing: it is to see what is used after
it was freed.
"""

from __future__ import annotations


def keep_for(_made: type) -> None:
    """Keep the memory of up to 256 dropped objects of a class for its next ones.

    Compiled, raises TypeError if they may differ in size: the class must be final, with neither
    items nor references that the collector follows.
    """
