cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from octets cimport buffers
from storage cimport octets
from storage.rdb cimport crc64, lzf, raw

cdef Py_ssize_t ENCODED
cdef Py_ssize_t LZF
cdef Py_ssize_t U32_LENGTH
cdef Py_ssize_t U64_LENGTH


@cython.final
cdef class RdbReader:
    cdef object _view
    cdef raw.Raw _data
    cdef public Py_ssize_t position
    cdef readonly Py_ssize_t end

    cpdef Py_ssize_t left(self) noexcept
    cpdef uint64_t crc(self, Py_ssize_t start, uint64_t crc) noexcept
    @cython.locals(at=Py_ssize_t)
    cdef Py_ssize_t _pass(self, Py_ssize_t size) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef int byte(self) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef int64_t u32(self) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef uint64_t u64(self) except? 1
    @cython.locals(at=Py_ssize_t)
    cpdef int64_t i64(self) except? -1
    @cython.locals(first=int)
    cpdef uint64_t length(self) except? 1
    @cython.locals(at=Py_ssize_t)
    cdef uint64_t _length_from(self, int first) except? 1
    cpdef Py_ssize_t size(self) except -1
    @cython.locals(size=uint64_t)
    cdef Py_ssize_t _size_from(self, int first) except -1
    @cython.locals(number=uint64_t)
    cpdef Py_ssize_t count(self, Py_ssize_t least) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef bytes plain(self, Py_ssize_t size)
    @cython.locals(first=int, size=Py_ssize_t, expanded=bytearray)
    cpdef bytes string(self)
    @cython.locals(first=int, size=Py_ssize_t, made=bytearray)
    cpdef bytearray owned_string(self)
    @cython.locals(first=int)
    cpdef object string_or_int(self)
    @cython.locals(compressed=uint64_t, size=uint64_t, at=Py_ssize_t)
    cdef bytearray _expanded(self)
    @cython.locals(number=int64_t)
    cdef int64_t _int_string(self, int first) except? -1
