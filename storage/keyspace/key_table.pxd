cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation, types
from storage.hash_table cimport fetching, mark_octets
from storage.hash_table.packed_directory cimport PackedDirectory
from storage.keyspace cimport item_octets
from storage.keyspace.settings cimport LooseKeys
from storage.keyspace.segment cimport Segment
from storage.keyspace.usage cimport Usage
from storage.value_type cimport ValueType

cdef int64_t NO_KEY
cdef int64_t NO_NUMBER
cdef Py_ssize_t SLOT
cdef Py_ssize_t _FEW
cdef Py_ssize_t _SHORT


@cython.final
cdef class KeyTable(PackedDirectory):
    cdef LooseKeys _all_loose
    cdef list _loose
    cdef object _packs
    cdef bint _has_long
    cdef object _lent
    cdef Segment _lent_from
    cdef Py_ssize_t _lent_at

    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object get(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object look(self, bytes key)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef int64_t number(self, bytes key) except? -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object use(self, bytes key, uint32_t last_use, bint reads=*)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object count_use(self, bytes key, Usage usage, bint reads=*)
    @cython.locals(start=Py_ssize_t)
    cdef object _value_at(self, Segment segment, Py_ssize_t at, bytes key, bint reads)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, lends=bint)
    cpdef object lend(self, bytes key, uint32_t last_use)
    cpdef int forget_lent(self) except -1
    @cython.locals(segment=Segment, row=ValueType, text=bytes, start=Py_ssize_t)
    cpdef int give_back(self, bytes key, object value) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object object_of(self, bytes key)
    @cython.locals(prefix=uint64_t, segment=Segment)
    cpdef Py_ssize_t bytes_of(self, bytes key) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef int64_t last_use_of(self, bytes key) except? -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, kind=int, is_loose=bint)
    cpdef int set(self, bytes key, object value, uint32_t last_use=*) except -1
    @cython.locals(row=ValueType, text=bytes)
    cpdef int keep(self, bytes key, object value, uint32_t last_use) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef int keep_packed(self, bytes key, ValueType row, bytes text, uint32_t last_use) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef bint touch(self, bytes key, uint32_t last_use) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, value=object)
    cpdef object pop(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef bint discard(self, bytes key) except -1
    @cython.locals(keys=list, first=Py_ssize_t, some=list, key=bytes, prefix=uint64_t,
                   segment=Segment, at=Py_ssize_t)
    cpdef int pack(self, Py_ssize_t count) except -1
    cdef bint _can_pack(self, object kind) except -1
    cdef int _loosen(self, bytes key) except -1
    cdef int _forget_all_loose(self) except -1
    @cython.locals(key=bytes)
    cdef int _forget_loose(self, list keys) except -1
    cpdef bytes key_at(self, int64_t place)
    cpdef int clear(self) except -1
    cdef Segment _segment_of(self, uint64_t prefix)
    cdef Segment segment_at(self, int64_t place)
