cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.parts.persistence cimport log_sums
from server.parts.propagation.propagation cimport Durability
from storage.rdb cimport raw

cdef Py_ssize_t SEAM
cdef Py_ssize_t LINE
cdef int BEGINS
cdef int FOLLOWS

cdef class AppendLog(Durability):
    cdef readonly bint broken
    cdef readonly uint64_t file_size
    cdef readonly uint64_t delayed_syncs
    cdef readonly uint64_t syncs
    cdef readonly double syncs_s
    cdef readonly double last_sync_s
    cdef public object listener
    cdef object _latency_events
    cdef object _config
    cdef object _files
    cdef object _threads
    cdef object _monotonic_s
    cdef object _unix_s
    cdef object _busy
    cdef int _fd
    cdef int _db
    cdef int64_t _stamp
    cdef Encoder _out
    cdef Py_ssize_t _whole
    cdef list _seams
    cdef Py_ssize_t _seam
    cdef bint _follows
    cdef bytes _unwritten
    cdef object _sync
    cdef uint64_t _sync_to
    cdef uint64_t _synced_to
    cdef uint64_t _file_from
    cdef uint64_t _based_to
    cdef uint64_t _lost_to
    cdef double _synced_s
    cdef double _sync_took_s
    cdef double _beside_sync_s
    cdef double _complained_s

    @cython.locals(before=Py_ssize_t)
    cpdef add_all(self, list ops)
    cpdef bint write(self) except -1
    @cython.locals(argv=list, word=bytes, db=int)
    cdef _add(self, tuple op)
    cdef _watch_sync(self)
    @cython.locals(kind=bytes, started_s=double, took_s=double)
    cdef _write_timed(self)
    cdef _took(self, bytes event, double seconds)
    cdef _write_out(self)
    @cython.locals(out=Encoder, follows=bint, sums=bint)
    cdef _take_out(self)
    @cython.locals(out=Encoder)
    cdef _add_sum(self, int mark)
    cdef _sum_up(self, bint follows)
    cdef _forget_units(self)
    @cython.locals(data=bytes, taken=Py_ssize_t)
    cdef bint _write_unwritten(self) except -1
    cdef _cut_off(self, Py_ssize_t taken)
    cdef _failed(self, str reason)
    cdef _forget_pending(self)
    cdef _drop_partial(self)
    cdef _use_file(self, int fd, uint64_t size)
    @cython.locals(is_timed=bint, started_s=double)
    cdef bint _sync_now(self, bint whatever) except -1
    cdef bint _sync_is_suppressed(self) except -1
    cdef _sync_if_due(self)
    cdef _take_sync(self, bint waits)
    cdef _count_sync(self, double took_s)
    cdef _mark_synced(self, uint64_t to)
    cdef _sync_failed(self, object failure, uint64_t to)
