cimport cython
from libc.stdint cimport int64_t

from server.table.command cimport Command

cdef int CHANGES
cdef int READS_OTHERS
cdef int64_t MOST_KEYS
cdef int64_t MANY_KEYS


cdef class UnconfirmedKeys:
    cdef bytes _name
    cdef Command _command
    cdef list _newer
    cdef list _older
    cdef int64_t _newer_end
    cdef int64_t _older_end
    cdef int64_t _all
    cdef int64_t _count
    cdef int64_t _forgotten
    cdef readonly int64_t last

    cpdef clear(self)
    @cython.locals(db=int, words=list, command=Command, uses=list)
    cpdef note(self, list ops, int64_t offset)
    cpdef all_changed(self, int64_t offset)
    @cython.locals(command=Command)
    cdef Command _look_up(self, list words)
    cdef _put(self, int db, bytes key, int64_t offset)
    cpdef int64_t offset_of(self, int db, bytes key) except -1
    cpdef confirmed(self, int64_t offset)
    cpdef recall(self, int64_t offset)


@cython.locals(name=bytes)
cdef bint _leaves_database(list words) except -1
