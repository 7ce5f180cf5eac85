cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport octets
from storage.listpack cimport element_octets
from storage.stream cimport stream_id, stream_node
from storage.listpack.listpack cimport Listpack
from storage.rax cimport rax_iterator
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t _UNKNOWN
cdef Py_ssize_t _NONE
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
    cdef uint64_t _node_ms
    cdef uint64_t _node_seq
    cdef uint64_t _start_ms
    cdef uint64_t _start_seq
    cdef uint64_t _end_ms
    cdef uint64_t _end_seq
    cdef Py_ssize_t _after
    cdef bytes _name
    cdef Py_ssize_t _name_index
    cdef bint _reverse
    cdef bint _over
    cdef Py_ssize_t _steps_back

    cdef int _begin(self, Rax nodes, StreamId start, StreamId end, bint reverse) except -1
    cdef int _stand_nowhere(
        self, Rax nodes, StreamId start, StreamId end, bint reverse
    ) except -1

    @cython.locals(node=Listpack, at=Py_ssize_t, is_early=bint, is_late=bint)
    cpdef bint next(self) except -1

    @cython.locals(is_on=bint, at=Py_ssize_t, is_deleted=bint)
    cpdef bint find(self, StreamId entry_id) except -1
    @cython.locals(node=Listpack)
    cdef Py_ssize_t _past_current(self) except -2
    @cython.locals(node=Listpack, fields=list, name_at=Py_ssize_t, at=Py_ssize_t)
    cpdef list read_fields(self)
    cpdef StreamId current_id(self)

    @cython.locals(node=Listpack, data=bytearray, index=Py_ssize_t, at=Py_ssize_t, left=Py_ssize_t,
                   value_at=Py_ssize_t)
    cpdef Py_ssize_t place_of(self, bytes name) except? -1
    @cython.locals(node=Listpack, at=Py_ssize_t)
    cpdef bytes value_of(self, bytes name)

    cpdef bytes key(self)
    @cython.locals(node=Listpack, values=Py_ssize_t)
    cpdef Py_ssize_t end(self) except -1
    @cython.locals(node=Listpack)
    cpdef int passed(self, Py_ssize_t lp_count_at) except -1
    cpdef int shifted(self, Py_ssize_t by) except -1
    cpdef int leave_node(self) except -1

    @cython.locals(nodes=RaxIterator, node=Listpack, at=Py_ssize_t, key=bytes)
    cdef Py_ssize_t _enter_node(self) except -2
    @cython.locals(at=Py_ssize_t, steps=Py_ssize_t, before=Py_ssize_t)
    cdef Py_ssize_t _step_back(self, Listpack node) except -2
    @cython.locals(ms_at=Py_ssize_t, seq_at=Py_ssize_t, ms=uint64_t, seq=uint64_t)
    cdef bint _is_early(self, bytearray data, Py_ssize_t at) noexcept
    @cython.locals(ms_at=Py_ssize_t, seq_at=Py_ssize_t, ms=uint64_t, seq=uint64_t, flags=int64_t,
                   left=int64_t)
    cdef Py_ssize_t _pass_by(self, bytearray data, Py_ssize_t at) noexcept
    @cython.locals(node=Listpack, data=bytearray, flags=int64_t)
    cdef int64_t _read_head(self, Py_ssize_t at) except? -1


@cython.locals(made=StreamIterator)
cpdef StreamIterator new_iterator(Rax nodes, StreamId start, StreamId end, bint reverse=*)
@cython.locals(made=StreamIterator)
cpdef StreamIterator new_follower(Rax nodes, StreamId start, Py_ssize_t few)
@cython.locals(made=StreamIterator)
cpdef StreamIterator new_finder(Rax nodes)
cdef Py_ssize_t _skip(bytearray data, Py_ssize_t at, int64_t elements) noexcept
