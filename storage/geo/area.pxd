cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.geo cimport geohash, sphere

cdef double OUTSIDE
cdef int FINEST
cdef int COARSEST
cdef double HALF_EQUATOR
cdef double POLAR
cdef double NEXT_TO_A_POLE
cdef double NEARLY
cdef tuple NINE


@cython.final
@cython.no_gc
cdef class Area:
    cdef readonly double longitude
    cdef readonly double latitude
    cdef readonly double unit
    cdef double _half_width
    cdef double _half_height
    cdef double _width_m
    cdef double _height_m
    cdef bint _is_box
    cdef double _south
    cdef double _north
    cdef double _west
    cdef double _east

    @cython.locals(latitude=double, apart=double, longitude=double, wide=double, distance=double)
    cpdef double distance_of(self, double score) noexcept
    @cython.locals(step=int)
    cpdef list ranges(self)
    @cython.locals(reach=double, wide=double, high=double, step=int)
    cdef int _first_step(self) except -1
    @cython.locals(high=double, widest=double, wide=double)
    cdef void _find_edges(self) except *
    @cython.locals(last=int64_t, row=int64_t, column=int64_t)
    cdef bint _is_covered(self, int step) except -1
    @cython.locals(last=int64_t, row=int64_t, column=int64_t, shift=int, ranges=list, north=int,
                   east=int, bits=uint64_t)
    cdef list _nine_ranges(self, int step)
    cdef bint _reaches(
        self, int64_t row, int64_t column, int step, int north, int east
    ) except -1
