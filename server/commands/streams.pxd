cimport cython

from protocol.encoder cimport Encoder
from server cimport stream_args, stream_reply
from server.args cimport Args
from server.call cimport Call
from server.stream_args cimport Trim
from storage cimport stream_id
from storage.keyspace cimport Keyspace
from storage.stream cimport Stream, StreamConfig
from storage.stream_id cimport StreamId


cdef StreamId _wanted_id(list argv, Py_ssize_t id_at)
@cython.locals(argv=list, db=Keyspace, key=bytes, fields=Py_ssize_t, seq_given=bint, stream=Stream,
               entry_id=StreamId, config=StreamConfig, text=bytes)
cdef object _add(Call call, Trim trim, Py_ssize_t id_at, bint may_create, StreamId wanted=*)
cdef int _log_add(Call call, Trim trim, Py_ssize_t id_at, Stream stream, bytes text, bint seq_given) except -1
@cython.locals(start=StreamId, end=StreamId, count=object, stream=Stream, out=Encoder)
cdef object _range(Call call, bytes first, bytes last, bint reverse)
cdef object _range_count(list argv)
