cimport cython

from protocol.encoder cimport Encoder
from protocol cimport octets
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Element, Listpack

cdef Py_ssize_t NONE
cdef int END
cdef Py_ssize_t PER_ELEMENT
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
