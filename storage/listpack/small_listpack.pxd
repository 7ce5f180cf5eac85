cimport cython

from octets cimport buffers
from storage cimport octets
from storage.listpack cimport element_octets

cdef Py_ssize_t HEADER
cdef int END
cdef Py_ssize_t MOST_BYTES
cdef Py_ssize_t MOST_WORDS
cdef bytearray _pen


@cython.locals(count=Py_ssize_t, data=bytearray, to=Py_ssize_t, at=Py_ssize_t, word=bytes)
cpdef bytes of_words(
    list words, Py_ssize_t first, Py_ssize_t step, Py_ssize_t longest, Py_ssize_t most
)
@cython.locals(size=Py_ssize_t, at=Py_ssize_t, length=Py_ssize_t, word=bytes)
cdef Py_ssize_t _most_bytes(list words, Py_ssize_t first, Py_ssize_t longest) except -1
@cython.locals(at=Py_ssize_t, before=Py_ssize_t, word=bytes, other=bytes)
cdef bint _has_equals(list words, Py_ssize_t first, Py_ssize_t step) except -1
