cimport cython

from storage cimport allocation
from storage.rax.rax cimport Rax
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t _OBJECT
cdef Py_ssize_t _MOST_ACKED


@cython.final
@cython.no_gc
cdef class References:
    cdef public Rax ids
    cdef public StreamId least
    cdef public StreamId kept_below
    cdef public StreamId swept
    cdef public list acked
    cdef public Rax counting
    cdef public bytes counted_to

    @cython.locals(number=Py_ssize_t)
    cpdef Py_ssize_t count(self, bytes key) except -1
    cdef Rax _counted(self, bytes key)
    @cython.locals(number=Py_ssize_t, ids=Rax)
    cpdef int added(self, bytes key) except -1
    @cython.locals(number=Py_ssize_t, entry_id=StreamId, acked=list, ids=Rax)
    cpdef int removed(self, bytes key) except -1
    @cython.locals(least=StreamId)
    cpdef int group_moves(self, StreamId old, StreamId new) except -1
    cpdef int group_gone(self) except -1
