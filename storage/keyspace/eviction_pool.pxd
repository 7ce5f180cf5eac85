cimport cython
from libc.stdint cimport int64_t

from storage.hash_table cimport mark_octets
from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.keyspace cimport Keyspace
from storage.keyspace.segment cimport Segment
from storage.keyspace.usage cimport Usage
from storage.chance cimport Chance

cdef Py_ssize_t POOL_SIZE
cdef int BY_FREQUENCY
cdef int BY_EXPIRY


@cython.final
@cython.freelist(16)
cdef class Candidate:
    cdef readonly int64_t score
    cdef readonly int64_t mark
    cdef readonly Keyspace database
    cdef readonly bytes key


@cython.final
cdef class EvictionPool:
    cdef Usage _usage
    cdef Chance _chance
    cdef list _drawn
    cdef KeyTable _drawn_from
    cdef Py_ssize_t _drawn_slots
    cdef int _rank
    cdef list _candidates
    cdef int64_t _lowest

    cpdef rank_by(self, int rank)
    cpdef clear(self)
    @cython.locals(keys=KeyTable, drawn=KeyTable, place=int64_t, segment=Segment, at=Py_ssize_t,
                   mark=int64_t, score=int64_t)
    cpdef sample(self, Keyspace database, bint volatile, Py_ssize_t count)
    @cython.locals(place=int64_t)
    cdef int64_t _next_place(self, KeyTable table, Py_ssize_t count) except -1
    @cython.locals(candidate=Candidate, other=Candidate, at=Py_ssize_t)
    cdef _enter(self, Keyspace database, bytes key, int64_t mark, int64_t score)
    @cython.locals(candidate=Candidate)
    cpdef Candidate take(self)
    cdef int64_t _mark_at(
        self, Segment segment, Py_ssize_t at, bint is_of_keys, KeyTable keys
    ) except? -1
    cdef int64_t _mark_now(self, Candidate candidate) except? -1
    cdef int64_t _score(self, int64_t mark) except? -1
