cimport cython
from libc.stdint cimport uint64_t

from storage cimport octets

cdef uint64_t _TOP
cdef Py_ssize_t _MAX_TEXT
cdef uint64_t _TENTH
cdef uint64_t _LAST_DIGIT


@cython.final
@cython.freelist(64)
cdef class StreamId:
    cdef readonly uint64_t ms
    cdef readonly uint64_t seq

    cpdef bytes encode(self)
    cpdef bytes key(self)
    cpdef StreamId next(self)
    cpdef StreamId prev(self)


@cython.locals(made=StreamId)
cpdef StreamId make_id(uint64_t ms, uint64_t seq)
cpdef int compare(StreamId a, StreamId b) except? -2

@cython.locals(ms=uint64_t, number=uint64_t, digit=uint64_t, digits=Py_ssize_t, dash=bint, byte="unsigned char")
cpdef StreamId parse_id(bytes text, uint64_t missing_seq=*)

cpdef object parse_auto_seq(bytes text)
cpdef StreamId from_key(bytes key)
