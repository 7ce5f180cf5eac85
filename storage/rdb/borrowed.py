"""Objects read through borrowed references: the plain versions of the C functions in borrowed.pxd.

A snapshot is written by a forked child. Parent and child share memory, page by page, until one of
them writes to a page. Taking a reference to an object writes to it, because its reference count is
part of it: a child that takes a reference to each key and value copies the whole heap.

So the child reads keys and values through borrowed references. Here a Borrowed is any object.
Compiled, it is a bare ``PyObject *``, and none of these functions changes a reference count, except
held(). The databases must not change meanwhile; in a forked child they cannot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from storage.rdb import raw

Borrowed: TypeAlias = Any


def nothing() -> Borrowed:
    """No object."""
    return None


def is_nothing(value: Borrowed) -> bool:
    """Whether there is no object."""
    return value is None


def of(value: Any) -> Borrowed:
    """*value*, which the caller keeps a reference to."""
    return value


def held(value: Borrowed) -> Any:
    """*value* as an ordinary reference, which is counted."""
    return value


def class_of(value: Borrowed) -> Borrowed:
    """The class of *value*."""
    return type(value)


def is_bytes(value: Borrowed) -> bool:
    """Whether *value* is of the class bytes."""
    return type(value) is bytes


def is_int(value: Borrowed) -> bool:
    """Whether *value* is of the class int."""
    return type(value) is int


def octets(text: Borrowed) -> raw.Raw:
    """The bytes of the bytes object *text*."""
    data: bytes = text
    return data


def size(text: Borrowed) -> int:
    """The length of the bytes object *text*."""
    return len(text)


def number(value: Borrowed) -> int:
    """The value of an int of 64 bits at most."""
    return int(value)
