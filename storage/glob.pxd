cimport cython

cdef unsigned char STAR
cdef unsigned char QUESTION_MARK
cdef unsigned char OPEN
cdef unsigned char CLOSE
cdef unsigned char CARET
cdef unsigned char DASH
cdef unsigned char BACKSLASH


@cython.locals(at=Py_ssize_t, here=Py_ssize_t, after_star=Py_ssize_t, star_end=Py_ssize_t)
cpdef bint match(bytes pattern, bytes text, bint nocase=*) except -1

cdef Py_ssize_t _skip_stars(bytes pattern, Py_ssize_t at) noexcept

cdef Py_ssize_t _after_element(
    bytes pattern, Py_ssize_t at, unsigned char byte, bint nocase
) noexcept

@cython.locals(end=Py_ssize_t, negated=bint, found=bint, escaped=bint, lower=cython.uchar,
               low=cython.uchar, high=cython.uchar)
cdef Py_ssize_t _after_class(
    bytes pattern, Py_ssize_t at, unsigned char byte, bint nocase
) noexcept

cdef unsigned char _lower(unsigned char byte) noexcept
