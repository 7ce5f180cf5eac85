cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from protocol cimport wire
from protocol.replies cimport Encoded, Status

cdef Py_ssize_t START
cdef Py_ssize_t KEEP
cdef Py_ssize_t SHORT
cdef Py_ssize_t SPARES
cdef Py_ssize_t SHORT_SPARES
cdef Py_ssize_t HEAD
cdef Py_ssize_t REFER_FROM
cdef Py_ssize_t CHUNK
cdef double EXACT
cdef int ARRAY
cdef int BULK
cdef int INTEGER
cdef int MAP
cdef int SET
cdef int PUSH
cdef int DOUBLE
cdef bytearray _NO_BUFFER
cdef list _spares
cdef Py_ssize_t _spare_count


@cython.final
@cython.no_gc  # it holds bytes: no cycles
cdef class Encoder(Encoded):
    cdef public int resp
    cdef bytearray buffer
    cdef Py_ssize_t end
    cdef list _pieces
    cdef Py_ssize_t _in_pieces
    cdef public Py_ssize_t limit
    cdef readonly bint overflown

    cdef _begin(self, int resp, Py_ssize_t limit)
    @cython.locals(made=Encoder)
    cpdef Encoder another(self)
    cpdef Py_ssize_t size(self)
    cpdef Py_ssize_t buffer_size(self)
    cpdef Py_ssize_t in_buffer(self)
    cpdef Py_ssize_t piece_count(self)
    cpdef bytes take(self)
    cpdef list take_pieces(self)
    cpdef bint in_pieces(self)
    @cython.locals(size=Py_ssize_t)
    cpdef clear(self)
    @cython.locals(piece=object)
    cpdef truncate(self, Py_ssize_t size)
    @cython.locals(status=Status)
    cpdef write(self, object reply)
    cdef _write_rare(self, object reply)
    @cython.locals(item=object)
    cdef _write_items(self, int mark, object items)
    cdef _write_map(self, object reply)
    cpdef bulk(self, bytes data)
    cpdef bulk_slice(self, bytearray source, Py_ssize_t start, Py_ssize_t size)
    cpdef bulk_int(self, int64_t number)
    @cython.locals(number=int64_t)
    cpdef real(self, double value)
    @cython.locals(end=Py_ssize_t)
    cdef _write_fraction(self, double value)
    cpdef integer(self, int64_t number)
    cpdef array(self, Py_ssize_t size)
    cpdef map(self, Py_ssize_t size)
    cpdef set(self, Py_ssize_t size)
    cpdef status(self, bytes text)
    cpdef error(self, object error)
    cpdef null(self)
    cpdef null_array(self)
    cpdef raw(self, bytes data)
    cpdef append_shared(self, bytes data)
    cpdef append(self, Encoder other)
    cpdef move(self, Encoder other)
    cdef _head(self, int mark, int64_t number)
    cpdef Py_ssize_t open_array(self) except -1
    @cython.locals(head=Py_ssize_t)
    cpdef close_array(self, Py_ssize_t mark, Py_ssize_t size)
    @cython.locals(index=Py_ssize_t, size=Py_ssize_t, piece=object)
    cdef _insert(self, Py_ssize_t at, bytes data)
    @cython.locals(least=Py_ssize_t)
    cdef reserve(self, Py_ssize_t size)
    @cython.locals(end=Py_ssize_t)
    cdef _seal(self)
    cdef bint _add_piece(self, object piece, Py_ssize_t size) except -1
    cdef _overflow(self)
