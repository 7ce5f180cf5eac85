cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport allocation, xxh3
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.pending cimport Pending

cdef Py_ssize_t _ORDER
cdef Py_ssize_t _LANE
cdef Py_ssize_t _LONGEST
cdef Py_ssize_t _SHOWN
cdef int64_t _PARKED
cdef uint32_t _NOBODY


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Lane:
    cdef public bytes value
    cdef public Pending first
    cdef public bytes key
    cdef Rax _others
    cdef public Py_ssize_t taken
    cdef public int64_t turn

    cpdef int begin(self, bytes value, int64_t turn) except -1
    @cython.locals(others=Py_ssize_t)
    cpdef Py_ssize_t size(self) except -1
    cpdef Py_ssize_t waiting(self) except -1
    @cython.locals(first=Pending, first_key=bytes)
    cpdef int add(self, bytes key, Pending pending) except -1
    @cython.locals(others=Rax, next_one=tuple)
    cpdef int remove(self, bytes key) except -1
    @cython.locals(place=RaxIterator, found=Pending)
    cpdef Pending after(self, Pending pending)


@cython.final
@cython.no_gc
cdef class GroupOrder:
    cdef readonly bytes field
    cdef readonly dict lanes
    cdef readonly dict ready
    cdef Rax _lane_of
    cdef Py_ssize_t _weight
    cdef readonly Py_ssize_t waiting
    cdef public int64_t turn

    cdef int _weigh(self, Py_ssize_t size) except -1
    cpdef Lane lane_of(self, bytes key)
    @cython.locals(lane=Lane)
    cpdef bint is_free(self, bytes value) except -1
    @cython.locals(lane=Lane)
    cpdef Py_ssize_t taken_of(self, bytes value) except -1
    @cython.locals(lane=Lane)
    cpdef int add(self, bytes key, Pending pending, bytes value) except -1
    @cython.locals(lane=Lane)
    cpdef int removed(self, bytes key, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int given(self, bytes key) except -1
    @cython.locals(lane=Lane)
    cpdef int given_back(self, bytes key) except -1
    @cython.locals(lane=Lane)
    cpdef int moved(self, bytes key) except -1
    cpdef int take_up(self, Lane lane) except -1
    cpdef Lane first_ready(self)
    cpdef int look_again(self, Lane lane) except -1
    cpdef int pass_over(self, Lane lane) except -1
    @cython.locals(first=Pending)
    cdef int _settle(self, Lane lane) except -1
    @cython.locals(lane=Lane, before=Pending)
    cpdef bint may_claim(self, bytes key, uint32_t consumer_index) except -1
    @cython.locals(found=list, lane=Lane, later=Pending)
    cpdef list taken_after(self, Pending pending, uint32_t consumer_index)


cpdef bytes named(bytes value)
cpdef bytes key_of(Pending pending)
