from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.table.args cimport Args
from server.dispatch.call cimport Call

from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
