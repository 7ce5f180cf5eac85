cimport cython

from server.commands.streams.adding cimport stream_steps
from server.commands.streams.adding.add_options cimport AddOptions, Once
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
from storage.stream cimport producers
from storage.stream.producers cimport Producers
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


@cython.locals(argv=list, db=Keyspace, id_at=Py_ssize_t, wanted=StreamId, key=bytes, stream=Stream,
               name=bytes, earlier=StreamId, known=Producers)
cpdef bytes add_once(Call call, AddOptions options, Once once)
@cython.locals(found=Producers)
cpdef Producers producers_of(Call call, Stream stream)
