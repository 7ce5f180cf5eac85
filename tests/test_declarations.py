"""tests/declarations finds each kind of fault in a .pxd."""

from __future__ import annotations

import pytest

from tests.declarations import faults

PY = """
LIMIT = 5

class Base:
    __slots__ = ("slot",)

class Tree(Base):
    def __init__(self):
        self.size = 0

    def find(self, key, start=0):
        at = start
        return [step for step in key[at:]]

    def trim(self, most):
        def other(deep):
            return deep
        count = other(most)
        return count

def free(word, *rest):
    for part in rest:
        pass
"""

PXD = """
cimport cython
cdef int LIMIT

cdef class Base:
    cdef object slot

cdef class Tree(Base):
    cdef readonly Py_ssize_t size
    @cython.locals(at=Py_ssize_t, step=int)
    cpdef list find(self, bytes key, Py_ssize_t start=*)
    @cython.locals(
        count=int,  # over more than one line
        most=int)
    cdef int trim(self, most) except -1

@cython.locals(part=bytes)
cdef free(bytes word)
"""

TWIN = "# inline only\ncdef inline int cut(bytes data, int at=1):\n    return at\n"


def test_declarations_that_agree_have_no_fault() -> None:
    assert faults(PXD, PY) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("int LIMIT", "int LIMITS", "LIMITS: declared, but not defined"),
        ("object slot", "object slot, slots", "Base.slots: declared, but not defined"),
        ("Py_ssize_t size", "Py_ssize_t length", "Tree.length: declared, but not defined"),
        ("class Base", "class Basis", "Basis: declared, but not defined"),
        ("cdef free", "cdef freed", "freed(): declared, but not defined"),
        ("list find", "list found", "Tree.found(): declared, but not defined"),
        (
            "bytes key",
            "bytes word",
            "Tree.find(): declared with (self, word, start=*), defined with (self, key, start=*)",
        ),
        (
            "start=*)",
            "start)",
            "Tree.find(): declared with (self, key, start), defined with (self, key, start=*)",
        ),
        (
            "(self, most)",
            "(self, int most, int *rest)",
            "Tree.trim(): declared with (self, most, rest), defined with (self, most)",
        ),
        ("at=Py", "till=Py", "Tree.find(): cython.locals names till, which it does not bind"),
        ("count=int", "deep=int", "Tree.trim(): cython.locals names deep, which it does not bind"),
        ("part=bytes", "find=bytes", "free(): cython.locals names find, which it does not bind"),
        (
            "@cython.locals(part",
            "@cython.locals(word=bytes)\n@cython.locals(part",
            "free: cython.locals stands above it more than once",
        ),
        (
            "cdef object slot",
            "@cython.locals(a=int)\n    cdef object slot",
            "slot: cython.locals stands above it, and it is no function",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_reported(old: str, new: str, fault: str) -> None:
    assert PXD.count(old) == 1
    assert faults(PXD.replace(old, new), PY) == [fault]


@pytest.mark.parametrize(
    "source", ['__slots__ = ("slot", "other")', "def __init__(self):\n        self.other = 1"]
)
def test_an_attribute_that_is_not_declared_is_reported(source: str) -> None:
    py = PY.replace('__slots__ = ("slot",)', source)
    assert "Base.other: defined, but not declared" in faults(PXD, py)


def test_cython_locals_above_the_wrong_function_are_reported() -> None:
    slipped = PXD.replace(
        "    cpdef list find(self, bytes key, Py_ssize_t start=*)\n",
        "    cdef int grown(self)\n    cpdef list find(self, bytes key, Py_ssize_t start=*)\n",
    )
    grown = PY.replace("    def trim", "    def grown(self):\n        return 1\n\n    def trim")
    assert faults(slipped, grown) == [
        "Tree.grown(): cython.locals names at, which it does not bind",
        "Tree.grown(): cython.locals names step, which it does not bind",
    ]


def test_a_method_declared_in_another_class_is_reported() -> None:
    moved = PXD.replace(
        "    cdef object slot\n", "    cdef object slot\n    cdef int trim(self, most)\n"
    )
    assert faults(moved, PY) == ["Base.trim(): declared, but not defined"]


def test_a_module_written_twice_has_the_same_functions_in_both() -> None:
    assert faults(TWIN, "def cut(_data, at=1):\n    return at\n") == []
    assert faults(TWIN, "def put(data):\n    pass\n") == ["put(): not in the .pxd"]
    assert faults(TWIN, "def cut(data, at):\n    return at\n") == [
        "cut(): (data, at=*) in C, (data, at) in Python"
    ]
