cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.listpack cimport element_octets
from storage cimport octets
from storage.stream cimport stream_id, stream_node
from storage.rdb cimport raw
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t HEADER
cdef int END
cdef int MANY
cdef int64_t DELETED
cdef int64_t SAME_FIELDS
cdef uint64_t THREE_MASK
cdef uint64_t THREE_SMALL


@cython.final
cdef class NodeCheck:
    cdef bytearray _data
    cdef raw.Raw _bytes
    cdef Py_ssize_t _end
    cdef Py_ssize_t _found
    cdef uint64_t _key_ms
    cdef uint64_t _key_seq
    cdef uint64_t _ms
    cdef uint64_t _seq
    cdef readonly int64_t alive

    cpdef StreamId top(self)
    @cython.locals(data=bytearray, at=Py_ssize_t, living=int64_t, deleted=int64_t,
                   fields=Py_ssize_t, entries=int64_t)
    cpdef int run(self) except -1
    @cython.locals(three=uint64_t, flags=int64_t, ms=uint64_t, seq=uint64_t, size=Py_ssize_t, fields=Py_ssize_t)
    cdef Py_ssize_t _entry(self, Py_ssize_t at, Py_ssize_t master_fields) except -1
    @cython.locals(data=raw.Raw)
    cdef int64_t _number(self, Py_ssize_t at) except? -1
    cdef Py_ssize_t _past(self, Py_ssize_t at) noexcept
    @cython.locals(fields=int64_t)
    cdef Py_ssize_t _fields(self, Py_ssize_t at) except -1
    @cython.locals(data=raw.Raw, end=Py_ssize_t, after=Py_ssize_t, head=int, _=Py_ssize_t)
    cdef Py_ssize_t _skip(self, Py_ssize_t at, Py_ssize_t elements) except -1
    @cython.locals(data=bytearray, end=Py_ssize_t, size=Py_ssize_t, after=Py_ssize_t)
    cdef Py_ssize_t _behind(self, Py_ssize_t at) except -1
