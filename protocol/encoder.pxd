cimport cython
from libc.stdint cimport int64_t

from protocol cimport octets

cdef Py_ssize_t START
cdef Py_ssize_t KEEP
cdef Py_ssize_t LINE
cdef int ARRAY
cdef int BULK
cdef int INTEGER
cdef int MAP
cdef int SET
cdef int PUSH


@cython.final
cdef class Encoder:
    cdef public int resp
    cdef bytearray _buffer
    cdef Py_ssize_t _end

    cpdef bytes take(self)
    cpdef truncate(self, Py_ssize_t size)
    @cython.locals(needed=Py_ssize_t)
    cdef _reserve(self, Py_ssize_t size)
    cpdef write(self, object reply)
    cdef _write_rare(self, object reply)
    cdef _write_map(self, dict reply)
    cdef _write_marked(self, int mark, object items)
    cpdef raw(self, bytes data)
    cpdef append(self, Encoder other)
    @cython.locals(size=Py_ssize_t, at=Py_ssize_t)
    cpdef bulk(self, bytes data)
    @cython.locals(at=Py_ssize_t)
    cpdef bulk_slice(self, bytearray source, Py_ssize_t start, Py_ssize_t size)
    @cython.locals(at=Py_ssize_t)
    cpdef bulk_int(self, int64_t number)
    cpdef integer(self, int64_t number)
    cpdef array(self, Py_ssize_t size)
    cpdef map(self, Py_ssize_t size)
    cpdef null(self)
    cpdef null_array(self)
    cdef _line(self, int mark, int64_t number)
    cpdef Py_ssize_t open_array(self) except -1
    @cython.locals(head=Py_ssize_t)
    cpdef close_array(self, Py_ssize_t mark, Py_ssize_t size)
