cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation, octets
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.redeliveries cimport Redeliveries
from storage.stream cimport kept_blocks, stream_id
from storage.stream.stream_id cimport StreamId

cdef uint32_t _MOST
cdef int64_t _MANY
cdef Py_ssize_t OBJECT
cdef uint32_t _NOBODY
cdef int64_t _PARKED
cdef Py_ssize_t _FEW
cdef Py_ssize_t BESIDE


@cython.freelist(256)
cdef class Pending:
    cdef readonly uint64_t ms
    cdef readonly uint64_t seq
    cdef PyObject* older_link
    cdef PyObject* newer_link
    cdef public int64_t delivery_time
    cdef readonly uint32_t delivery_count
    cdef readonly uint32_t consumer_index


from storage.stream cimport links  # it has to know the class


@cython.final
cdef class LanePending(Pending):
    cdef public uint64_t lane
    cdef public int64_t turn
    cdef PyObject* in_chain


@cython.locals(made=Pending, of_lane=LanePending)
cpdef Pending new_pending(uint64_t ms, uint64_t seq, int64_t delivery_time, uint32_t count, uint32_t consumer_index, uint64_t lane=*)
cpdef Pending older_of(Pending pending)
cpdef Pending newer_of(Pending pending)
cpdef StreamId id_of(Pending pending)
cpdef int count_up(Pending pending) except -1
cpdef int count_down(Pending pending) except -1
cpdef int set_count(Pending pending, object count) except -1
cpdef int64_t count_of(Pending pending) except -1


cdef bint _is_parked(Pending pending) noexcept
@cython.locals(is_owned=bint)
cdef PyObject* _link_to_owned(Pending pending) noexcept
cdef bytes _held_key(Pending pending)

cdef int64_t _time_of(PyObject* link) except? -1


@cython.final
@cython.no_gc
cdef class Beside:
    cdef Rax held
    cdef Rax ahead
    cdef PyObject* ahead_from
    cdef PyObject* gone_to
    cdef PyObject* due_to
    cdef int64_t due_ms
    cdef PyObject* set_back
    cdef PyObject* parked
    cdef Redeliveries redelivered


@cython.final
@cython.no_gc
cdef class DeliveryQueue:
    cdef PyObject* _oldest
    cdef PyObject* _newest
    cdef PyObject* _last_released
    cdef Beside _beside
    cdef public int64_t redeliveries

    cpdef Pending oldest(self)
    cpdef Pending newest(self)
    @cython.locals(last=Pending)
    cpdef Pending first_owned(self)
    @cython.locals(beside=Beside, last=Pending)
    cpdef Pending first_left(self)
    cpdef int is_gone(self, Pending pending) except -1
    @cython.locals(beside=Beside, last=Pending)
    cpdef Pending first_not_due(self, int64_t now_ms)
    @cython.locals(beside=Beside)
    cpdef int is_due(self, Pending pending, int64_t now_ms) except -1
    cpdef int look_again(self) except -1
    cpdef int note_first(self, Redeliveries redelivered) except -1
    cpdef Redeliveries redelivered(self)
    @cython.locals(noted=Redeliveries)
    cpdef int note(self, Pending pending) except -1
    @cython.locals(noted=Redeliveries)
    cpdef int forget(self, bytes key) except -1
    cdef Beside _use(self)
    @cython.locals(older=Pending, beside=Beside, time=int64_t, is_set_back=bint)
    cpdef int add(self, Pending pending, int64_t now_ms=*) except -1
    @cython.locals(time=int64_t, gone=Pending, due=Pending)
    cdef int _note_added(self, Beside beside, Pending older, Pending pending) except -1
    @cython.locals(older=Pending, beside=Beside, ahead=Rax, place=RaxIterator)
    cdef Pending _place_for(self, int64_t time, int64_t now_ms)
    @cython.locals(beside=Beside, near=Pending, other=Pending, is_before=bint, is_there=bint,
                   steps=Py_ssize_t)
    cdef Pending _walk_to(self, Pending older, int64_t time, int64_t now_ms)
    @cython.locals(beside=Beside, first=Pending)
    cdef Pending _before_ahead(self)
    @cython.locals(beside=Beside, pending=Pending, key=bytes)
    cdef int _index_ahead(self, int64_t now_ms) except -1
    @cython.locals(ahead=Rax, time=int64_t, last=Pending)
    cdef int _catch_up(self, Beside beside, int64_t now_ms) except -1
    @cython.locals(is_oldest=bint)
    cdef int _leave_beside(self, Beside beside, Pending pending) except -1
    @cython.locals(time=int64_t, key=bytes, older=Pending)
    cdef int _leave_ahead(self, Beside beside, Rax ahead, Pending pending) except -1
    @cython.locals(gone=Pending)
    cpdef int release(self, Pending pending) except -1
    @cython.locals(beside=Beside, last=Pending)
    cpdef int hold(self, Pending pending, int64_t until_ms) except -1
    @cython.locals(pending=Pending)
    cpdef int ripen(self, int64_t now_ms, int64_t most) except -1
    @cython.locals(held=Rax)
    cpdef Pending first_held(self)
    @cython.locals(beside=Beside, parked=list, pending=Pending)
    cpdef list held(self)
    @cython.locals(held=Rax, place=RaxIterator, pending=Pending, found=list)
    cpdef list ripe(self, int64_t now_ms, Py_ssize_t most)
    cpdef bint is_held(self, Pending pending) except -1
    @cython.locals(beside=Beside, held=Rax)
    cdef int _let_go(self, Pending pending) except -1
    @cython.locals(older=Pending, newer=Pending)
    cdef int _unpark(self, Beside beside, Pending pending) except -1
    @cython.locals(newer=Pending)
    cdef int _insert(self, Pending older, Pending pending) except -1
    @cython.locals(beside=Beside)
    cpdef int remove(self, Pending pending) except -1
    cdef int _take_out(self, Pending pending) except -1
    cdef int _join(self, Pending older, Pending newer) except -1
    @cython.locals(beside=Beside)
    cpdef bint has_released(self) except -1
    @cython.locals(pending=Pending, newer=Pending, parked=Pending)
    cpdef int clear(self) except -1
