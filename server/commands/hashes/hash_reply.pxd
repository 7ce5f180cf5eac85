cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from storage.hashes.hash cimport Hash
from storage.listpack.listpack cimport Element, Listpack

cdef Py_ssize_t NONE

cpdef write_all(Encoder out, Hash value, bint fields, bint values, frozenset dead)
@cython.locals(element=Element, at=Py_ssize_t)
cdef _write_pack(Encoder out, Listpack pack, bint fields, bint values)
@cython.locals(element=Element, at=Py_ssize_t, place=Py_ssize_t)
cpdef write_values_of(Encoder out, Hash value, list words, Py_ssize_t first, frozenset dead)
