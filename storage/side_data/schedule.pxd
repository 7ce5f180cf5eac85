cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation, octets
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.side_data.deadlines cimport Deadlines
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef int64_t _NEVER
cdef int64_t _LATEST_MS
cdef int64_t _MOST_NUMBERS
cdef Py_ssize_t OBJECT
cdef Py_ssize_t PLACE
cdef Py_ssize_t JOB
cdef Py_ssize_t MOST_KEPT
cdef list _writers


@cython.locals(writer=RdbWriter, index=Py_ssize_t, fields=bytes)
cpdef bytes packed(list words, Py_ssize_t at, int64_t expire_ms=*)
@cython.locals(reader=RdbReader, words=list)
cpdef list unpacked(bytes fields)
@cython.locals(reader=RdbReader)
cpdef int64_t expires_after(bytes fields) except -1


@cython.final
cdef class Job:
    cdef readonly bytes name
    cdef readonly int64_t every_ms
    cdef readonly bytes cron
    cdef readonly bytes zone
    cdef readonly bytes fields
    cdef public int64_t next_ms

    cpdef list words(self)


@cython.final
cdef class Schedule:
    cdef Rax _entries
    cdef Rax _runs
    cdef Py_ssize_t _weight
    cdef readonly Deadlines deadlines
    cdef readonly dict jobs
    cdef public uint64_t last

    cdef int _weigh(self, Py_ssize_t size) except -1
    @cython.locals(size=Py_ssize_t)
    cpdef bint is_nothing(self) except -1
    cpdef int64_t first_due(self) except -1
    @cython.locals(due_ms=int64_t, run_ms=int64_t, at=RaxIterator)
    cpdef int64_t first_added(self) except -1
    @cython.locals(made=StreamId, old=bytes)
    cpdef StreamId add(self, int64_t due_ms, bytes fields, uint64_t number=*)
    @cython.locals(fields=bytes)
    cpdef bint discard(self, StreamId entry_id) except -1
    @cython.locals(at=RaxIterator)
    cpdef StreamId first_entry(self, int64_t now_ms)
    @cython.locals(fields=bytes)
    cpdef bytes fields_of(self, StreamId entry_id)
    @cython.locals(found=list, at=RaxIterator, entry_id=StreamId)
    cpdef list entries(self, StreamId start, StreamId end, Py_ssize_t most)
    cpdef int put(self, Job job) except -1
    @cython.locals(job=Job)
    cpdef bint drop(self, bytes name) except -1
    cpdef int move(self, Job job, int64_t next_ms) except -1
    cdef int _expect(self, Job job) except -1
    @cython.locals(at=RaxIterator, job=Job)
    cpdef Job first_job(self, int64_t now_ms)
    cpdef Py_ssize_t parts(self) except -1
    @cython.locals(at=RaxIterator, job=Job)
    cpdef bint shed(self, Py_ssize_t most) except -1
    @cython.locals(trees=Py_ssize_t)
    cpdef Py_ssize_t memory(self) except -1
    @cython.locals(copy=Schedule, at=RaxIterator, entry_id=StreamId, job=Job,
                   deadline_ms=int64_t)
    cpdef Schedule copy(self)
    @cython.locals(at=RaxIterator, name=bytes, job=Job, deadline_ms=int64_t, entry_id=StreamId)
    cpdef int write(self, RdbWriter writer) except -1


@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _weight_of(Job job) except -1
cdef bytes _run_key(Job job)
@cython.locals(reader=RdbReader, made=Schedule, last=uint64_t, due_ms=uint64_t, number=uint64_t,
               fields=bytes, ms=uint64_t, seq=uint64_t, deadline_ms=uint64_t)
cpdef Schedule read(bytes data)
@cython.locals(name=bytes, every_ms=uint64_t, cron=bytes, zone=bytes, next_ms=uint64_t,
               fields=bytes)
cdef Job _read_job(RdbReader reader)
cdef uint64_t _u64_be(RdbReader reader) except? 1
