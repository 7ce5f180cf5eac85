cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation, octets
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.side_data.deadline_run cimport DeadlineRun
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef int64_t _NEVER
cdef Py_ssize_t OBJECT
cdef Py_ssize_t IN_TREES
cdef Py_ssize_t IN_RUN


@cython.final
cdef class Deadlines:
    cdef DeadlineRun _run
    cdef Rax _ends
    cdef Rax _times
    cdef StreamId _pruned_to
    cdef Py_ssize_t _weight

    cpdef Py_ssize_t count(self) noexcept
    cpdef Py_ssize_t in_trees(self) noexcept
    @cython.locals(first=int64_t, at=RaxIterator)
    cpdef int64_t first(self) except -1
    @cython.locals(is_first=bint, key=bytes)
    cpdef bint put(self, StreamId entry_id, int64_t deadline_ms) except -1
    @cython.locals(of_run=int64_t, of_trees=object)
    cpdef bint has_expired(self, StreamId entry_id, int64_t now_ms) except -1
    @cython.locals(key=bytes, deadline_ms=object)
    cpdef bint discard(self, StreamId entry_id) except -1
    cpdef int prune(self, StreamId first_id) except -1
    @cython.locals(at=RaxIterator, entry_id=StreamId)
    cdef int _prune(self, StreamId first_id) except -1
    @cython.locals(found=list, at=RaxIterator, key=bytes, deadline_ms=int64_t, count=Py_ssize_t)
    cpdef list up_to(self, int64_t until_ms, Py_ssize_t most)
    @cython.locals(at=RaxIterator)
    cpdef int forget_in_trees(self) except -1
    cpdef Py_ssize_t memory(self) except -1
    cdef int _weigh(self, Py_ssize_t size) except -1
