cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.chance cimport Chance
from storage.hash_table cimport fetching, mark_octets, packed_octets
from storage.hash_table.directory cimport Directory
from storage.hash_table.packed_bucket cimport PackedBucket


cdef class PackedDirectory(Directory):
    cdef Py_ssize_t _places
    cdef Py_ssize_t _places_counted

    @cython.final
    cdef int _begin_packed(self, PackedBucket only) except -1
    @cython.locals(prefix=uint64_t)
    cpdef bint has(self, bytes key) except -1
    cpdef int fetch(self, list keys) except -1
    @cython.final
    @cython.locals(slots=Py_ssize_t)
    cdef int remove_at(self, PackedBucket bucket, Py_ssize_t at, uint64_t prefix) except -1
    @cython.final
    cdef int _split_if_long(self, PackedBucket bucket, uint64_t prefix) except -1
    @cython.final
    cdef PackedBucket _packed_bucket(self, uint64_t prefix)

    @cython.locals(place=int64_t, bucket=PackedBucket)
    cpdef object random_key(self, Chance chance)
    @cython.locals(slots=Py_ssize_t, slot=int64_t, bucket=PackedBucket, at=Py_ssize_t, block=int64_t)
    cpdef int64_t random_place(self, Chance chance) except -1
    cpdef list draw_places(self, Chance chance, Py_ssize_t items)
    @cython.locals(bucket=PackedBucket)
    cpdef bint is_place(self, int64_t place) except -1
    cpdef Py_ssize_t slots(self) except -1
    @cython.final
    @cython.locals(news=Py_ssize_t)
    cdef int _recount_places(self) except -1
    @cython.final
    @cython.locals(places=Py_ssize_t, slot=Py_ssize_t, block=Py_ssize_t, items=Py_ssize_t)
    cdef int _count_places(self) except -1
    @cython.locals(slot=int64_t)
    cpdef int64_t place_behind(self, int64_t place) except -1
    @cython.locals(slot=Py_ssize_t, first=Py_ssize_t, keys=list, bucket=PackedBucket)
    cpdef list sample(self, Chance chance, Py_ssize_t count)
    @cython.final
    cdef int64_t _slot_with_keys(self, int64_t slot) except -1

    @cython.final
    cdef PackedBucket _packed_at(self, Py_ssize_t slot)
