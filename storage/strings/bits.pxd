cimport cython
from libc.stdint cimport int64_t

from storage.rdb cimport raw
from storage.strings cimport bit_octets

cdef Py_ssize_t BLOCK


@cython.locals(byte=Py_ssize_t)
cpdef int at(object text, int64_t bit) except -1
@cython.locals(data=raw.Raw, start=Py_ssize_t, end=Py_ssize_t, found=int64_t, head=int, tail=int)
cpdef int64_t count(object text, int64_t first, int64_t last)
@cython.locals(data=raw.Raw, at=Py_ssize_t, end=Py_ssize_t, skipped=int, byte=int, found=int64_t)
cpdef int64_t position(object text, bint bit, int64_t first, int64_t last)
@cython.locals(out=bytearray, most=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t)
cpdef bytearray combined(str operation, list texts)
@cython.locals(out=bytearray, most=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t)
cpdef bytearray selected(str operation, list texts)
@cython.locals(data=raw.Raw, size=Py_ssize_t, at=Py_ssize_t)
cdef int _combine(
    bytearray out, Py_ssize_t start, Py_ssize_t end, str operation, list texts
) except -1
@cython.locals(size=Py_ssize_t, at=Py_ssize_t, first=raw.Raw)
cdef int _combine_with_first(
    bytearray out, Py_ssize_t start, Py_ssize_t end, str operation, list texts
) except -1
@cython.locals(size=Py_ssize_t, part=Py_ssize_t, twice=bytearray, once=bytearray, block=bytearray)
cdef int _leave_single(bytearray out, Py_ssize_t start, Py_ssize_t end, list texts) except -1
cdef Py_ssize_t _part(Py_ssize_t size, Py_ssize_t start, Py_ssize_t end) noexcept
