cimport cython
from libc.stdint cimport int64_t

from server.commands.geo cimport geo_args
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.geo cimport geohash
from storage.geo.area cimport Area
from storage.sorted_sets.sorted_set cimport SortedSet

cdef int NOWHERE
cdef int AROUND_PLACE
cdef int AROUND_MEMBER
cdef int NO_SHAPE
cdef int CIRCLE
cdef int BOX
cdef int NO_STORE
cdef int WITH_STORE
cdef int IS_STORE


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class SearchArgs:
    cdef readonly SortedSet values
    cdef readonly bytes target
    cdef readonly bint stores_distances
    cdef readonly bint with_distance
    cdef readonly bint with_hash
    cdef readonly bint with_coordinates
    cdef readonly bint has_details
    cdef int _storing
    cdef bint _any
    cdef int64_t _count
    cdef int _order
    cdef int _centre
    cdef int _shape
    cdef double _longitude
    cdef double _latitude
    cdef double _half_width
    cdef double _half_height
    cdef double _unit

    cpdef take_place(self, Args args)
    cpdef take_member(self, Args args)
    @cython.locals(radius=double)
    cpdef take_radius(self, Args args)
    @cython.locals(width=double, height=double)
    cpdef take_box(self, Args args)
    cpdef Area area(self)
    cpdef take_options(self, Args args, bint with_area)
    cdef bint _take_detail(self, Args args) except -1
    cdef bint _take_choice(self, Args args) except -1
    cdef bint _take_store(self, Args args) except -1
    cdef bint _take_area(self, Args args) except -1
    cdef void _check(self, bytes name, bint with_area) except *
    cpdef Py_ssize_t most(self)
    cpdef Py_ssize_t chosen(self, Py_ssize_t found)
    cpdef int order(self)


@cython.locals(made=SearchArgs, args=Args)
cpdef SearchArgs of_radius(Call call, bint may_store)
@cython.locals(made=SearchArgs, args=Args)
cpdef SearchArgs of_radius_by_member(Call call, bint may_store)
@cython.locals(made=SearchArgs)
cpdef SearchArgs of_search(Call call)
@cython.locals(made=SearchArgs)
cpdef SearchArgs of_search_store(Call call)
