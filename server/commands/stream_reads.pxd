from protocol.encoder cimport Encoder
from server cimport stream_reply
from server.call cimport Call
from server.group_reply cimport Delivery
from server.stream_request cimport Request
from storage cimport stream_id
from storage.consumer_group cimport Consumer, ConsumerGroup
from storage.stream cimport Stream
from storage.stream_id cimport StreamId


cdef StreamId _last_seen(Stream stream, bytes text)
cdef StreamId _before_last(Stream stream)
