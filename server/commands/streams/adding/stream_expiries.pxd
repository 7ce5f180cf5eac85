cimport cython
from libc.stdint cimport int64_t

from server.commands.streams.adding cimport add_options, stream_delays, stream_once, stream_steps
from server.commands.streams.adding.add_options cimport AddOptions, Once
from server.commands.streams.stream_args cimport Trim
from server.dispatch.call cimport Call
from storage.side_data.deadlines cimport Deadlines
from storage.side_data.schedule cimport Schedule
from storage.stream.deletions cimport Deletion, Done
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

cdef int64_t _LATEST_MS

@cython.locals(argv=list, key=bytes, expire_ms=int64_t, plain=list, text=bytes, stream=Stream,
               id_at=Py_ssize_t, fields=Py_ssize_t, deadline_ms=int64_t, schedule=Schedule)
cpdef bytes add_simply(Call call)

@cython.locals(trim=Trim, once=Once, stream=Stream, added=int64_t, text=bytes, is_id_given=bint, deadline_ms=int64_t,
               schedule=Schedule)
cpdef bytes add_expiring(Call call, AddOptions options)
@cython.locals(deadlines=Deadlines)
cpdef int set_deadline(
    Call call, bytes key, Stream stream, Schedule schedule, StreamId entry_id, int64_t deadline_ms
) except -1

@cython.locals(schedule=Schedule, stream=object, ids=list, entry_id=StreamId)
cpdef bint settle(Call call, bytes key, Py_ssize_t most) except -1
cdef Py_ssize_t _copies(Call call, bytes key) except -1
