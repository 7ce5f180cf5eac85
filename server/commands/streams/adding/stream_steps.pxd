cimport cython

from server.dispatch.call cimport Call
from server.commands.streams.adding.add_options cimport AddOptions
from server.commands.streams.stream_args cimport Trim
from storage.keyspace.keyspace cimport Keyspace
from storage.stream cimport stream_id
from storage.stream.deletions cimport Done
from storage.stream.stream cimport Stream, StreamConfig
from storage.stream.stream_id cimport StreamId


@cython.locals(argv=list, db=Keyspace, fields=Py_ssize_t, seq_given=bint, key=bytes, stream=Stream,
               is_new=bint, entry_id=StreamId, wanted=StreamId, trim=Trim, config=StreamConfig, text=bytes, trimmed=bint, log=list, done=Done, is_gone=bint)
cpdef bytes add_entry(Call call, Py_ssize_t id_at, AddOptions options=*, Stream found=*)
@cython.locals(fields=Py_ssize_t, stream=Stream)
cpdef bint ends_with(Call call, Py_ssize_t id_at, StreamId last) except -1
@cython.locals(argv=list, trim=Trim)
cdef list _log_of(
    Call call, AddOptions options, Py_ssize_t id_at, Stream stream, bytes text, bint seq_given
)
cpdef int note_sparse(Call call, Stream stream) except -1
@cython.locals(key=bytes, name=bytes, ids=list, at=Py_ssize_t)
cpdef int log_done(Call call, Done done) except -1
@cython.locals(greatest=StreamId, text=bytes)
cpdef int log_greatest(Call call, Done done, Stream stream) except -1
