cimport cython

from protocol.encoder cimport Encoder
from storage.hash_table.packed_iterator cimport PackedIterator
from storage.hash_table.packed_table cimport PackedTable
from storage.hashes.hash cimport Hash
from storage.listpack.listpack cimport Element, Listpack

cdef Py_ssize_t NONE

cpdef write_all(Encoder out, Hash value, bint fields, bint values, frozenset dead)
cdef _write_pair(Encoder out, bytes field, bytes text, bint fields, bint values)
@cython.locals(element=Element, at=Py_ssize_t)
cdef _write_pack(Encoder out, Listpack pack, bint fields, bint values)
cdef _write_element(Encoder out, Listpack pack, Element element)
@cython.locals(item=PackedIterator)
cdef _write_table(Encoder out, PackedTable table, bint fields, bint values)
@cython.locals(element=Element, at=Py_ssize_t)
cpdef write_values_of(Encoder out, Hash value, list words, Py_ssize_t first, frozenset dead)
@cython.locals(place=Py_ssize_t)
cdef _write_value_in_pack(Encoder out, Listpack pack, bytes field, Element element)
