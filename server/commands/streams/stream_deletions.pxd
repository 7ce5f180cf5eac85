cimport cython
from server.commands.streams.adding cimport stream_steps
from server.commands.streams.stream_args cimport Doomed, read_doomed
from server.dispatch.call cimport Call
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.deletions cimport Deletion, Done
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

@cython.locals(name=bytes, ids=list, done=Done, deletion=Deletion, results=list, entry_id=StreamId)
cdef list _ack_all(Call call, Stream stream, ConsumerGroup group, Doomed doomed)
cdef _tell(Call call, Deletion deletion, Done done)
