cimport cython

from protocol.encoder cimport Encoder
from server.commands.geo.search_args cimport SearchArgs
from storage.geo cimport geohash, place_marks
from storage.geo.places cimport Places

@cython.locals(details=int, at=Py_ssize_t)
cpdef write_places(Encoder out, Places found, Py_ssize_t count, double unit, SearchArgs wanted)
cdef _write_member(Encoder out, Places found)
cpdef write_position(Encoder out, double score)
cdef _write_degrees(Encoder out, double degrees)
