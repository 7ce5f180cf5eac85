cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.listpack cimport element_octets
from storage cimport octets
from storage.stream cimport stream_id, stream_node
from storage.rdb cimport raw
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t HEADER
cdef int END
cdef int SHORT_STRING
cdef int INT13
cdef int LONG_STRING
cdef int MANY
cdef int64_t DELETED
cdef int64_t SAME_FIELDS


@cython.final
cdef class NodeCheck:
    cdef bytearray _data
    cdef raw.Raw _bytes
    cdef bytes _key
    cdef Py_ssize_t _at
    cdef Py_ssize_t _end
    cdef Py_ssize_t _found
    cdef uint64_t _ms
    cdef uint64_t _seq
    cdef readonly int64_t alive

    cpdef StreamId top(self)
    @cython.locals(data=bytearray, living=int64_t, deleted=int64_t, fields=Py_ssize_t, dead=int64_t)
    cpdef int run(self) except -1
    @cython.locals(flags=int64_t, ms=uint64_t, seq=uint64_t, size=Py_ssize_t, fields=Py_ssize_t)
    cdef int _entry(self, Py_ssize_t master_fields) except -1
    @cython.locals(data=raw.Raw, at=Py_ssize_t)
    cdef int64_t _number(self) except? -1
    @cython.locals(fields=int64_t)
    cdef Py_ssize_t _fields(self) except -1
    @cython.locals(data=raw.Raw, at=Py_ssize_t, end=Py_ssize_t, after=Py_ssize_t, head=int,
                   _=Py_ssize_t)
    cdef int _skip(self, Py_ssize_t elements) except -1
    @cython.locals(data=bytearray, end=Py_ssize_t, size=Py_ssize_t, after=Py_ssize_t)
    cdef Py_ssize_t _behind(self, Py_ssize_t at) except -1
