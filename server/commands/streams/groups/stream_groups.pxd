cimport cython

from server.commands.streams cimport stream_args
from server.commands.streams.groups cimport group_steps
from server.commands.streams.stream_args cimport GroupOptions
from server.dispatch.call cimport Call
from storage cimport octets
from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


@cython.locals(stream=Stream)
cdef ConsumerGroup _group_at(Call call, bytes key, bytes name)
