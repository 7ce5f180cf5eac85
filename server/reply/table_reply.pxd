cimport cython

from protocol.encoder cimport Encoder
from protocol cimport octets
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.packed_segment cimport PackedSegment
from storage.hash_table.packed_table cimport PackedTable

cdef Py_ssize_t PER_TEXT


@cython.locals(segment=PackedSegment)
cpdef write_items(Encoder out, PackedTable table, bint keys, bint values)
@cython.locals(marks=bytearray, data=bytearray, items=Py_ssize_t, buffer=bytearray, to=Py_ssize_t,
               number=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t)
cdef _write_segment(Encoder out, PackedSegment segment, bint keys, bint values)
@cython.locals(number=Py_ssize_t, at=Py_ssize_t)
cdef _write_far(Encoder out, PackedSegment segment, bint keys, bint values)
