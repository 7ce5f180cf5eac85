from libc.stdint cimport int64_t


cdef class Backlog:
    cdef readonly int64_t first
    cdef readonly int64_t end
    cdef readonly int64_t limit
    cdef object _portions

    cpdef append(self, bytes data)
    cpdef resize(self, int64_t limit)
    cpdef bint has(self, int64_t offset) except -1
    cdef _shorten(self)


cdef class History:
    cdef public str id
    cdef public str second_id
    cdef public int64_t second_offset
    cdef readonly bint knows_end
    cdef public int64_t offset
    cdef public Backlog backlog

    cpdef keep_backlog(self, int64_t limit)
    cpdef append(self, bytes data)
    cpdef bint continues(self, str history_id, int64_t offset) except -1
    cpdef begin_anew(self, str new_id)
    cpdef branch(self, str new_id)
    cpdef follow_under(self, str new_id)
    cpdef adopt(self, str primary_id, int64_t offset)
