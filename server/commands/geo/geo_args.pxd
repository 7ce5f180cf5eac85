cimport cython

from server.commands.sorted_sets cimport score_args
from server.table.args cimport Args
from storage cimport octets
from storage.geo cimport geohash

cpdef double unit_of(bytes word) except -1
@cython.locals(longitude=double, latitude=double)
cpdef tuple take_place(Args args)
@cython.locals(degrees=double)
cdef double _degrees(bytes text) except? -1
@cython.locals(radius=double)
cpdef tuple take_radius(Args args)
@cython.locals(width=double, height=double)
cpdef tuple take_box(Args args)
@cython.locals(args=Args, only_new=bint, only_old=bint, words=list, longitude=double,
               latitude=double)
cpdef list as_zadd(list argv)
