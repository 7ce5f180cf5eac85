cimport cython
from libc.stdint cimport int64_t

from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage cimport octets
from storage.stream cimport stream_id
from storage.stream.deletions cimport Done, ReferencedTrim
from storage.stream.stream cimport Stream, StreamConfig
from storage.stream.stream_id cimport StreamId

cdef int64_t NOT_GIVEN
cdef int _KEEPREF

cpdef list entry_ids(list argv, Py_ssize_t at)
cpdef StreamId wanted_id(list argv, Py_ssize_t id_at)
cpdef StreamId loose_id(bytes text, object missing_seq=*)
cpdef StreamId range_start(bytes text)
cpdef StreamId range_end(bytes text)


cpdef int reference_policy(bytes word) except -2


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class Doomed:
    cdef list _argv
    cdef Py_ssize_t _ids_at
    cdef readonly int64_t count
    cdef readonly int policy

    @cython.locals(args=Args, policy=int)
    cdef int read(self, list argv, Py_ssize_t at) except -1
    @cython.locals(end=Py_ssize_t)
    cpdef list ids(self)


@cython.locals(made=Doomed)
cpdef Doomed read_doomed(list argv, Py_ssize_t at)


@cython.final
@cython.freelist(2)
cdef class GroupOptions:
    cdef readonly bint clears
    cdef readonly bint make_stream
    cdef readonly int64_t entries_read


@cython.locals(options=GroupOptions, args=Args)
cpdef GroupOptions group_options(list argv, bint may_make)


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Trim:
    cdef readonly bytes strategy
    cdef readonly bint approximate
    cdef readonly int64_t maxlen
    cdef readonly StreamId minid
    cdef readonly int64_t limit
    cdef readonly int policy
    cdef public Done done
    cdef StreamId _upto
    cdef bint _keeps

    cpdef bint take(self, Args args) except -1
    cdef int _take_threshold(self, bytes strategy, Args args) except -1
    cpdef int check(self) except -1
    cpdef int check_limit(self, Call call) except -1
    @cython.locals(limit=int64_t, maxlen=int64_t, minid=StreamId, trim=ReferencedTrim,
                   deleted=int64_t)
    cpdef int64_t apply(self, Stream stream, StreamConfig config) except -1
    cpdef bint drops_references(self) noexcept
    cpdef bint is_as_it_was_given(self) except -1
    cpdef list as_exact(self, Stream stream)
