cimport cython
from libc.stdint cimport int64_t, uint64_t

from octets cimport buffers
from storage cimport allocation, octets
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Listpack
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport stream_id, stream_node
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t _NODES
cdef Py_ssize_t _FEW
cdef Py_ssize_t _OBJECT
cdef Py_ssize_t _ROW
cdef Py_ssize_t _SEQ
cdef Py_ssize_t _COUNT
cdef Py_ssize_t _SUM
cdef uint64_t _MIDDLE


@cython.final
@cython.no_gc
cdef class Positions:
    cdef Rax _rax
    cdef bytearray _rows
    cdef Py_ssize_t _nodes
    cdef Py_ssize_t _empty
    cdef readonly Py_ssize_t blocks

    cpdef int node_added(self, uint64_t ms, uint64_t seq) except -1
    @cython.locals(number=Py_ssize_t, at=Py_ssize_t, total=int64_t, other=Py_ssize_t,
                   first=Py_ssize_t)
    cdef int _add_block(self, uint64_t ms, uint64_t seq) except -1
    @cython.locals(kept=Py_ssize_t)
    cpdef int tail_found(self, uint64_t ms, uint64_t seq) except -1
    @cython.locals(index=Py_ssize_t, at=Py_ssize_t, before=int64_t, number=Py_ssize_t)
    cpdef int changed(self, uint64_t ms, uint64_t seq, int64_t by) except -1

    @cython.locals(ms=int64_t, seq=int64_t, index=Py_ssize_t, found=int64_t, last=RaxIterator,
                   key=bytes, first_key=bytes, node=Listpack, place=RaxIterator)
    cpdef int64_t before(self, StreamId entry_id) except -1
    @cython.locals(index=Py_ssize_t, step=Py_ssize_t, left=int64_t, total=int64_t,
                   place=RaxIterator, node=Listpack, count=int64_t)
    cpdef tuple neighbours(self, int64_t number)

    cdef bytes _key_of(self, Py_ssize_t index)
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, first_ms=int64_t)
    cdef Py_ssize_t _block_of(self, int64_t ms, int64_t seq) except -1
    @cython.locals(total=int64_t, number=Py_ssize_t)
    cdef int64_t _before_block(self, Py_ssize_t index) except -1
    @cython.locals(rows=bytearray, kept=Py_ssize_t, index=Py_ssize_t, at=Py_ssize_t,
                   count=int64_t, number=Py_ssize_t, above=Py_ssize_t, total=int64_t)
    cdef int _drop_empty(self) except -1
    @cython.locals(before=Py_ssize_t)
    cdef int _resize(self, Py_ssize_t size) except -1


@cython.locals(alive=int64_t, has_deleted=bint, data=bytearray, key_ms=uint64_t,
               key_seq=uint64_t, at=Py_ssize_t, found=int64_t, ms_at=Py_ssize_t, ms=uint64_t, seq_at=Py_ssize_t, seq=uint64_t)
cdef int64_t _alive_before(Listpack node, bytes key, StreamId entry_id) except -1
@cython.locals(at=Py_ssize_t, first=StreamId)
cdef tuple _neighbours(RaxIterator place, Listpack node, int64_t number)
