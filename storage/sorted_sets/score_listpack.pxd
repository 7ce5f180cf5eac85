cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport octets
from storage.listpack.listpack cimport Element, Listpack
from storage.sorted_sets cimport bound as bounds
from storage.sorted_sets.bound cimport Bound

cdef Py_ssize_t NONE
cdef double EXACT

cpdef double score_at(Listpack pack, Py_ssize_t at) except? -1
cpdef double read_score(Listpack pack, Py_ssize_t at, Element element) except? -1
@cython.locals(members=Py_ssize_t, element=Element, at=Py_ssize_t)
cpdef Py_ssize_t rank(Listpack pack, Bound bound) except -1
@cython.locals(members=Py_ssize_t, at=Py_ssize_t)
cpdef Py_ssize_t rank_at(Listpack pack, Py_ssize_t spot) except -1
@cython.locals(score=double, member=bytes)
cdef bint _is_before(Listpack pack, Py_ssize_t at, Element element, Bound bound) except -1
@cython.locals(bound=Bound, element=Element, at=Py_ssize_t, text=bytes)
cpdef int insert(Listpack pack, bytes member, double score) except -1
@cython.locals(number=int64_t)
cpdef bytes text_of(double score)
cpdef int remove(Listpack pack, Py_ssize_t at) except -1
