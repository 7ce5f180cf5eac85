cimport cython
from libc.stdint cimport int64_t

from storage.chance cimport Chance
from storage.keyspace.settings cimport Clock

cdef int64_t COUNTED
cdef int64_t MINUTES
cdef int64_t MOST_FREQUENT
cdef int64_t NEW_KEY
cdef int64_t RAREST


@cython.final
cdef class Usage:
    cdef Chance _chance
    cdef Clock _clock
    cdef public bint counts
    cdef public bint is_saved
    cdef public int64_t log_factor
    cdef public int64_t decay_minutes

    cpdef int64_t of_new_key(self) except -1
    @cython.locals(counter=int64_t, rarity=int64_t)
    cpdef int64_t after_use(self, int64_t number) except -1
    cpdef int64_t of_loaded_key(self, int64_t idle_s, int64_t frequency) except -1
    @cython.locals(now_s=int64_t)
    cpdef int64_t idle_s(self, int64_t number) except -1
    @cython.locals(now_s=int64_t, counter=int64_t, passed=int64_t)
    cpdef int64_t frequency(self, int64_t number) except -1
    cdef int64_t _counted(self, int64_t counter) noexcept
    cdef int64_t _now_s(self) noexcept
