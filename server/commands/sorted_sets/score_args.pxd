from storage cimport octets
from storage.sorted_sets cimport bound
from storage.sorted_sets.bound cimport Bound

cdef Py_ssize_t INT64_DIGITS

cpdef double to_score(bytes text, object error=*) except? -1
cpdef Bound score_bound(bytes text, bint is_end)
cdef double _range_score(bytes text) except? -1
cpdef Bound member_bound(bytes text, bint is_end)
