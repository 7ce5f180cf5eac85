cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport allocation
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.pending cimport Pending

cdef Py_ssize_t _ORDER
cdef Py_ssize_t _LANE
cdef int64_t _PARKED
cdef uint32_t _NOBODY


@cython.final
@cython.no_gc
cdef class Lane:
    cdef readonly bytes value
    cdef readonly Rax pending
    cdef public Py_ssize_t taken
    cdef public int64_t turn

    cpdef Py_ssize_t waiting(self) except -1


@cython.final
@cython.no_gc
cdef class GroupOrder:
    cdef readonly bytes field
    cdef readonly dict lanes
    cdef readonly dict ready
    cdef Rax _lane_of
    cdef readonly Py_ssize_t waiting
    cdef public int64_t turn

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
    cdef int _settle(self, Lane lane) except -1
    @cython.locals(lane=Lane, place=RaxIterator, before=Pending)
    cpdef bint may_claim(self, bytes key, uint32_t consumer_index) except -1
    @cython.locals(found=list, lane=Lane, place=RaxIterator, pending=Pending)
    cpdef list taken_after(self, bytes key, uint32_t consumer_index)


@cython.locals(found=tuple, pending=Pending)
cpdef Pending first_of(Lane lane)
cpdef bytes key_of(Pending pending)
