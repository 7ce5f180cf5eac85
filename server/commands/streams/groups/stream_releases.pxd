from server.commands.streams cimport stream_args
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
