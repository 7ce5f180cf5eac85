cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.hash_table.bucket cimport Bucket

cdef Py_ssize_t KEYS_PER_SLOT
cdef Py_ssize_t OBJECT
cdef Py_ssize_t SLOT


cdef class Directory:
    # A directory of 2**31 slots would have 2**34 keys (KEYS_PER_SLOT): 1 << its depth fits an int.
    cdef list _directory
    cdef int _shift
    cdef readonly Py_ssize_t used
    cdef Py_ssize_t _deepest_pairs
    cdef Py_ssize_t _slots_held

    cdef int _begin(self, Bucket only) except -1
    @cython.locals(bucket=Bucket)
    cdef list _keys_at(self, Py_ssize_t slot)
    @cython.locals(bucket=Bucket)
    cdef list _flat_items_at(self, Py_ssize_t slot)

    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    cpdef tuple scan_items(self, uint64_t cursor, Py_ssize_t count)
    @cython.locals(slot=Py_ssize_t, page=list, bucket=Bucket, first=Py_ssize_t, end=Py_ssize_t)
    cdef tuple _page(self, uint64_t cursor, Py_ssize_t count, bint with_values)

    cdef Bucket _bucket(self, Py_ssize_t slot)
    cdef Py_ssize_t _block(self, Py_ssize_t slot) except -1
    @cython.locals(block=Py_ssize_t)
    cdef Py_ssize_t _next_slot(self, Py_ssize_t slot) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _assign(self, Py_ssize_t first, Py_ssize_t block, Bucket bucket) except -1
    @cython.locals(block=Py_ssize_t, half=Py_ssize_t, low_slot=Py_ssize_t, high_slot=Py_ssize_t,
                   middle=Py_ssize_t, bucket=Bucket, low=Bucket, high=Bucket)
    cdef void _split(self, Py_ssize_t slot) except *
    @cython.locals(block=Py_ssize_t, low=Bucket, high=Bucket)
    cdef void _merge(self, Py_ssize_t slot) except *
    cpdef Py_ssize_t bytes_of_slots(self)
    @cython.locals(slots=Py_ssize_t)
    cdef bint _double(self) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _halve(self) except -1
    @cython.locals(slots=Py_ssize_t)
    cdef int _count_slots(self) except -1
