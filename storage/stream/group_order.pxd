cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation, octets
from storage.rax.rax cimport Rax
from storage.stream cimport lane_tail
from storage.stream.lane cimport Lane
from storage.stream.lane_table cimport LaneTable
from storage.stream.lane_tail cimport key_of
from storage.stream.pending cimport LanePending, Pending

cdef Py_ssize_t _ORDER
cdef Py_ssize_t _LANE
cdef Py_ssize_t _OF_LANE
cdef Py_ssize_t _NUMBER
cdef int64_t _PARKED
cdef uint32_t _NOBODY


@cython.final
@cython.no_gc
cdef class GroupOrder:
    cdef readonly bytes field
    cdef readonly LaneTable lanes
    cdef readonly Rax ready
    cdef int64_t _readied
    cdef dict _numbers
    cdef bint _is_shown
    cdef Py_ssize_t _weight
    cdef readonly Py_ssize_t waiting
    cdef public int64_t turn
    cdef public bint was_set_back

    cdef inline int _weigh(self, Py_ssize_t size) except -1
    @cython.locals(of_lane=LanePending)
    cdef inline uint64_t _number_of(self, Pending pending) except? 1
    cpdef bint has_lane(self, Pending pending) except -1
    @cython.locals(number=uint64_t)
    cpdef Lane lane_of(self, Pending pending)
    @cython.locals(lane=Lane, only=LanePending)
    cdef Lane _lane(self, uint64_t number)
    @cython.locals(lane=Lane, only=LanePending)
    cpdef bint may_give(self, uint64_t number, int64_t most) except -1
    @cython.locals(is_only=bint, of_lane=LanePending)
    cpdef int add(self, bytes key, Pending pending, uint64_t number) except -1
    cdef int _add_to(self, Lane lane, Pending pending) except -1
    @cython.locals(of_lane=LanePending)
    cpdef int passed(self, Pending pending) except -1
    @cython.locals(number=uint64_t)
    cpdef int removed(self, bytes key, Pending pending) except -1
    cdef int _remove_from(self, Lane lane, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int given(self, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int given_back(self, Pending pending) except -1
    @cython.locals(lane=Lane)
    cpdef int moved(self, Pending pending) except -1
    @cython.locals(first=Pending)
    cdef int _settle(self, Lane lane) except -1
    cpdef int take_up(self, Lane lane) except -1
    @cython.locals(found=tuple, lane=Lane)
    cpdef Lane first_ready(self)
    cpdef int look_again(self, Lane lane) except -1
    cpdef int pass_over(self, Lane lane) except -1
    @cython.locals(found=list, lane=Lane, one=Pending, left=Py_ssize_t)
    cpdef list taken_after(self, Pending pending, uint32_t consumer_index)
