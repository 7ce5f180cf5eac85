cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage.rdb cimport raw

cdef int BITS
cdef int SHIFT
cdef int IN_WORD
cdef uint32_t ALL
cdef uint32_t FIRST_BIT


@cython.final
cdef class CommonSubsequence:
    cdef bytes _one
    cdef bytes _other
    cdef object _grows
    cdef Py_ssize_t _words
    cdef readonly int64_t length

    @cython.locals(one=raw.Raw, number_of="uint32_t *", equal="uint32_t *", grows="uint32_t *",
                   words=Py_ssize_t, row=Py_ssize_t, i=Py_ssize_t, column=Py_ssize_t,
                   word=Py_ssize_t, carry=uint64_t, flat=uint32_t, same=uint32_t)
    cdef int64_t _compare(self) except -1
    cdef object _numbers(self)
    @cython.locals(words=Py_ssize_t, other=raw.Raw, number_of="uint32_t *", equal="uint32_t *",
                   j=Py_ssize_t)
    cdef object _equal_bits(self, object numbers)
    @cython.locals(found=list, one=bytes, other=bytes, grows="uint32_t *", i=Py_ssize_t,
                   j=Py_ssize_t, size=Py_ssize_t, word=uint32_t)
    cpdef list ranges(self)
    cpdef bytes text(self)
