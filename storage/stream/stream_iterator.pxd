cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport octets
from storage.listpack cimport element_octets
from storage.stream cimport stream_id, stream_node
from storage.listpack.listpack cimport Element, Listpack
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t _UNKNOWN
cdef Py_ssize_t _NONE
cdef int _SMALL
cdef int _END


@cython.final
@cython.no_gc
@cython.freelist(8)
cdef class StreamIterator:
    cdef readonly Listpack node
    cdef readonly uint64_t ms
    cdef readonly uint64_t seq
    cdef readonly Py_ssize_t names_at
    cdef readonly Py_ssize_t master_fields
    cdef readonly Py_ssize_t entry_at
    cdef readonly Py_ssize_t fields_at
    cdef readonly Py_ssize_t num_fields
    cdef readonly bint same_fields
    cdef RaxIterator _nodes
    cdef Element _element
    cdef int64_t _number
    cdef uint64_t _node_ms
    cdef uint64_t _node_seq
    cdef uint64_t _start_ms
    cdef uint64_t _start_seq
    cdef uint64_t _end_ms
    cdef uint64_t _end_seq
    cdef Py_ssize_t _after
    cdef bint _reverse
    cdef bint _over

    cdef int _begin(self, Rax nodes, StreamId start, StreamId end, bint reverse) except -1

    @cython.locals(at=Py_ssize_t, flags=int64_t)
    cpdef bint next(self) except -1

    @cython.locals(node=Listpack, fields=list, name_at=Py_ssize_t, at=Py_ssize_t)
    cpdef list read_fields(self)
    cpdef StreamId current_id(self)

    cpdef bytes key(self)
    @cython.locals(node=Listpack, values=Py_ssize_t)
    cpdef Py_ssize_t end(self) except -1
    @cython.locals(node=Listpack)
    cpdef int passed(self, Py_ssize_t lp_count_at) except -1
    cpdef int shifted(self, Py_ssize_t by) except -1
    cpdef int leave_node(self) except -1

    @cython.locals(nodes=RaxIterator, node=Listpack, at=Py_ssize_t, key=bytes)
    cdef bint _enter_node(self) except -1
    @cython.locals(node=Listpack)
    cdef Py_ssize_t _edge(self) except -2
    @cython.locals(node=Listpack, data=bytearray, ms_at=Py_ssize_t, seq_at=Py_ssize_t, left=int64_t)
    cdef Py_ssize_t _pass_by(self, Py_ssize_t at) except -2
    @cython.locals(node=Listpack)
    cdef Py_ssize_t _step(self) except -2
    @cython.locals(node=Listpack, flags=int64_t)
    cdef int64_t _read_head(self, Py_ssize_t at) except? -1
    @cython.locals(head=int)
    cdef Py_ssize_t _read_number(self, Listpack node, Py_ssize_t at) except -2
    cdef bint _is_before_start(self) noexcept
    cdef bint _is_after_end(self) noexcept
    cdef bint _is_past(self) noexcept
    cdef bint _is_early(self) noexcept


@cython.locals(made=StreamIterator)
cpdef StreamIterator new_iterator(Rax nodes, StreamId start, StreamId end, bint reverse=*)
@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _behind(bytearray data, Py_ssize_t at) noexcept
cdef Py_ssize_t skip(Listpack node, Py_ssize_t at, Py_ssize_t elements) except -1
