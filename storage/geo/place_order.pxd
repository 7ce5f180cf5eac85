cimport cython

from storage.geo cimport place_marks

cdef Py_ssize_t FEW
cdef Py_ssize_t MANY

@cython.locals(source=bytearray, target=bytearray, width=Py_ssize_t, at=Py_ssize_t,
               middle=Py_ssize_t, end=Py_ssize_t)
cpdef void sort(bytearray marks, Py_ssize_t count, int order) except *
@cython.locals(at=Py_ssize_t, left=Py_ssize_t, right=Py_ssize_t)
cdef void _merge(
    bytearray target, bytearray source, Py_ssize_t first, Py_ssize_t middle, Py_ssize_t end,
    int order
) except *

cpdef void sort_first(bytearray marks, Py_ssize_t count, Py_ssize_t first, int order) except *
@cython.locals(lesser=Py_ssize_t, greater=Py_ssize_t)
cdef void _sort_part(
    bytearray marks, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, int order
) except *
@cython.locals(newest=Py_ssize_t, at=Py_ssize_t)
cdef void _sort_few(bytearray marks, Py_ssize_t begin, Py_ssize_t end, int order) except *
@cython.locals(count=Py_ssize_t, middle=Py_ssize_t, low=Py_ssize_t, high=Py_ssize_t,
               apart=Py_ssize_t)
cdef Py_ssize_t _pivot(bytearray marks, Py_ssize_t begin, Py_ssize_t end, int order) except -1
cdef Py_ssize_t _median(
    bytearray marks, Py_ssize_t one, Py_ssize_t two, Py_ssize_t three, int order
) except -1
@cython.locals(low=Py_ssize_t, low_equal=Py_ssize_t, high=Py_ssize_t, high_equal=Py_ssize_t,
               found=int, lesser=Py_ssize_t, greater=Py_ssize_t, count=Py_ssize_t)
cdef (Py_ssize_t, Py_ssize_t) _partition(
    bytearray marks, Py_ssize_t begin, Py_ssize_t end, int order
)
@cython.locals(at=Py_ssize_t)
cdef void _swap_runs(
    bytearray marks, Py_ssize_t one, Py_ssize_t other, Py_ssize_t count
) except *
