cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from octets cimport buffers
from storage cimport octets
from storage.rdb cimport raw
from storage.rdb.lzf cimport Compressor

cdef Py_ssize_t FIRST_ROOM
cdef Py_ssize_t SHORTEST_COMPRESSED
cdef Py_ssize_t LONGEST_NUMBER
cdef Py_ssize_t ENCODED
cdef Py_ssize_t LZF
cdef Py_ssize_t HEAD


cdef list _compressors
cdef Compressor _shared_compressor()


@cython.final
cdef class RdbWriter:
    cdef bytearray _data
    cdef readonly Py_ssize_t size
    cdef readonly int version
    cdef bint _compress
    cdef Compressor _compressor

    cpdef bytes take(self)
    cdef int _reserve(self, Py_ssize_t size) except -1
    cpdef int byte(self, int number) except -1
    cpdef int length(self, uint64_t number) except -1
    @cython.locals(data=bytearray, at=Py_ssize_t)
    cdef int _put_length(self, uint64_t number) noexcept
    cpdef int u16(self, int number) except -1
    cpdef int u64(self, uint64_t number) except -1
    cpdef int i64(self, int64_t number) except -1
    cpdef int id(self, uint64_t ms, uint64_t seq) except -1
    cpdef int plain(self, bytes data) except -1
    cpdef int string(self, bytes text) except -1
    cdef int text(self, raw.Raw text, Py_ssize_t size) except -1
    @cython.locals(text=bytes)
    cpdef int int_string(self, int64_t number) except -1
    @cython.locals(data=bytearray, at=Py_ssize_t)
    cdef int _put_int32(self, int64_t number) noexcept
    @cython.locals(start=Py_ssize_t, compressed=Py_ssize_t)
    cdef bint _put_compressed(self, raw.Raw text, Py_ssize_t size) except -1
