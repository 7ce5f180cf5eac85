cimport cython
from libc.stdint cimport int64_t

cdef int MOST_DIGITS
cdef Py_ssize_t PLAIN
cdef Py_ssize_t MAX_TEXT
cdef Py_ssize_t DIGITS
cdef int64_t NOT_PLAIN
cdef int64_t EXACT
cdef list POWERS
cdef tuple ZERO

@cython.locals(one=int64_t, other=int64_t, places=Py_ssize_t, others=Py_ssize_t, unit=int64_t,
               other_unit=int64_t)
cpdef bytes sum_text(bytes left, bytes right)
cpdef bint is_plain(bytes text) noexcept
@cython.locals(plain=int64_t, places=Py_ssize_t)
cpdef object parse(bytes text)
@cython.locals(size=Py_ssize_t, at=Py_ssize_t, digits=int, has_point=bint, value=int64_t, byte=int)
cdef int64_t _digits(bytes text) noexcept
@cython.locals(size=Py_ssize_t, at=Py_ssize_t)
cdef Py_ssize_t _decimals(bytes text) noexcept
cdef tuple _quotient(object above, object below)
cpdef tuple rounded(object mantissa, object exponent)
cdef object _shifted(object number, object bits)
cdef bint _is_too_large(tuple number) except -1
cpdef object sum_of(tuple one, tuple other)
cpdef tuple negated(tuple number)
cpdef bint is_less(tuple one, tuple other) except -1
cpdef bytes text_of(tuple number)
@cython.locals(digits=bytes, point=Py_ssize_t, tail=bytes)
cdef bytes _fixed(object scaled, Py_ssize_t places)
cdef bytes _whole_text(object whole)
