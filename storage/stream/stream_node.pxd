cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.listpack cimport element_octets
from storage cimport octets
from storage.stream cimport stream_id
from storage.listpack.listpack cimport Listpack
from storage.stream.stream_id cimport StreamId

cdef int DELETED
cdef int SAME_FIELDS
cdef Py_ssize_t COUNT_AT
cdef int64_t FEW
cdef Py_ssize_t _HEADER
cdef Py_ssize_t _INTEGER
cdef int64_t _MANY
cdef int _END
cdef Py_ssize_t _OTHER_NUMBERS
cdef Py_ssize_t _LIMIT
cdef Py_ssize_t _NUMBERS

@cython.locals(node=Listpack, names=Py_ssize_t, size=Py_ssize_t, index=Py_ssize_t, word=bytes,
               data=bytearray, at=Py_ssize_t)
cpdef Listpack new_node(list fields, Py_ssize_t start)

@cython.locals(data=bytearray, at=Py_ssize_t, index=Py_ssize_t)
cpdef bint has_fields(Listpack node, list fields, Py_ssize_t start) except -1

@cython.locals(
    words=Py_ssize_t, same=bint, data=bytearray, at=Py_ssize_t, size=Py_ssize_t, index=Py_ssize_t,
    word=bytes,
)
cpdef int append_entry(Listpack node, int64_t ms_delta, int64_t seq_delta, list fields, Py_ssize_t start) except -1
@cython.locals(size=Py_ssize_t, index=Py_ssize_t, word=bytes)
cpdef Py_ssize_t most_bytes(int64_t ms_delta, int64_t seq_delta, list fields, Py_ssize_t start) except -1

cpdef bint fits_alone(list fields, Py_ssize_t start) except -1
@cython.locals(size=Py_ssize_t, index=Py_ssize_t, word=bytes)
cpdef Py_ssize_t most_bytes_alone(list fields, Py_ssize_t start) except -1

cpdef int64_t alive(Listpack node) except? -1
cpdef int64_t entries(Listpack node) except? -1

@cython.locals(size=int64_t, at=Py_ssize_t)
cpdef Py_ssize_t entry_before(Listpack node, Py_ssize_t lp_count_at) except? -1

@cython.locals(data=bytearray, at=Py_ssize_t, left=int64_t)
cpdef Py_ssize_t first_entry(Listpack node) except -1
@cython.locals(data=bytearray, flags=int64_t, left=int64_t)
cpdef Py_ssize_t entry_after(Listpack node, Py_ssize_t at) except -1
@cython.locals(data=bytearray)
cpdef Py_ssize_t alive_from(Listpack node, Py_ssize_t at) except -1
@cython.locals(data=bytearray, ms_at=Py_ssize_t, seq_at=Py_ssize_t, ms=uint64_t, seq=uint64_t)
cpdef StreamId id_at(Listpack node, bytes key, Py_ssize_t at)
@cython.locals(data=bytearray, at=Py_ssize_t, names=int64_t, index=Py_ssize_t)
cpdef Py_ssize_t index_of_name(Listpack node, bytes name) except? -1
@cython.locals(data=bytearray, flags=int64_t, left=int64_t, pairs=int64_t)
cpdef bytes value_of(Listpack node, Py_ssize_t at, bytes name, Py_ssize_t index)
@cython.locals(living=int64_t, count=int64_t)
cpdef bint is_sparse(Listpack node) except -1
@cython.locals(data=bytearray, made=bytearray, names_at=Py_ssize_t, end=Py_ssize_t, at=Py_ssize_t,
               after=Py_ssize_t, elements=int64_t)
cpdef Listpack compacted(Listpack node)
@cython.locals(ms_at=Py_ssize_t, seq_at=Py_ssize_t, ms=uint64_t)
cpdef StreamId last_id(Listpack node, bytes key)

cpdef int mark_deleted(Listpack node, Py_ssize_t at) except -1
@cython.locals(at=Py_ssize_t)
cpdef int count_deleted(Listpack node, int64_t count) except -1
