cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport allocation, xxh3
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.pending cimport LanePending, Pending

cdef Py_ssize_t _ORDER
cdef Py_ssize_t _LANE
cdef Py_ssize_t _ONLY
cdef Py_ssize_t _NAME
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
    cdef dict _names
    cdef bint _is_shown
    cdef Py_ssize_t _weight
    cdef readonly Py_ssize_t waiting
    cdef public int64_t turn

    cdef int _weigh(self, Py_ssize_t size) except -1
    @cython.locals(of_lane=LanePending)
    cdef bytes _name_of(self, Pending pending)
    cpdef bint has_lane(self, Pending pending) except -1
    @cython.locals(name=bytes)
    cdef Lane _lane_of(self, Pending pending)
    @cython.locals(lane=Lane, only=LanePending)
    cdef Lane _lane(self, bytes name)
    @cython.locals(lane=Lane, only=LanePending)
    cpdef bint may_give(self, bytes name, int64_t most) except -1
    @cython.locals(of_lane=LanePending)
    cpdef int add(self, bytes key, Pending pending, bytes name) except -1
    cdef int _add_to(self, Lane lane, bytes key, Pending pending) except -1
    @cython.locals(of_lane=LanePending)
    cpdef int passed(self, Pending pending) except -1
    @cython.locals(name=bytes)
    cpdef int removed(self, bytes key, Pending pending) except -1
    cdef int _remove_from(self, Lane lane, bytes key, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int given(self, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int given_back(self, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int moved(self, Pending pending) except -1
    @cython.locals(first=Pending)
    cdef int _settle(self, Lane lane) except -1
    cpdef int take_up(self, Lane lane) except -1
    cpdef Lane first_ready(self)
    cpdef int look_again(self, Lane lane) except -1
    cpdef int pass_over(self, Lane lane) except -1
    @cython.locals(lane=Lane, before=Pending, key=bytes)
    cpdef bint may_claim(self, Pending pending, uint32_t consumer_index) except -1
    @cython.locals(found=list, lane=Lane, later=Pending)
    cpdef list taken_after(self, Pending pending, uint32_t consumer_index)


cpdef bytes named(bytes value)
cpdef bytes key_of(Pending pending)
