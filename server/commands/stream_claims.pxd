from protocol.encoder cimport Encoder
from server cimport stream_reply
from server.args cimport Args
from server.call cimport Call
from storage cimport pending as pendings
from storage cimport stream_id
from storage.consumer_group cimport Consumer, ConsumerGroup
from storage.pending cimport Pending
from storage.stream cimport Stream
from storage.stream_id cimport StreamId
