cimport cython

from protocol.encoder cimport Encoder
from protocol cimport wire
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.packed_segment cimport PackedSegment
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Element, Listpack

cdef Py_ssize_t NONE
cdef int END
cdef Py_ssize_t PER_ELEMENT
cdef Py_ssize_t PER_TEXT
cdef Py_ssize_t MUCH


@cython.locals(left=Py_ssize_t, buffer=bytearray, to=Py_ssize_t, data=bytearray, count=Py_ssize_t,
               size=Py_ssize_t, head=Py_ssize_t)
cpdef Py_ssize_t write_elements(
    Encoder out, Listpack pack, Py_ssize_t at, Py_ssize_t most
) except -1
@cython.locals(element=Element, count=Py_ssize_t)
cdef Py_ssize_t _write_one_by_one(
    Encoder out, Listpack pack, Py_ssize_t at, Py_ssize_t most
) except -1
cpdef write_element(Encoder out, Listpack pack, Element element)


@cython.locals(segment=PackedSegment)
cpdef write_items(Encoder out, PackedTable table, bint keys, bint values)
@cython.locals(marks=bytearray, data=bytearray, items=Py_ssize_t, buffer=bytearray, to=Py_ssize_t,
               number=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t)
cdef _write_segment(Encoder out, PackedSegment segment, bint keys, bint values)
@cython.locals(number=Py_ssize_t, at=Py_ssize_t)
cdef _write_far(Encoder out, PackedSegment segment, bint keys, bint values)
