from protocol.encoder cimport Encoder
from server cimport stream_reply
from server.call cimport Call
from storage cimport group_lag
from storage cimport pending as pendings
from storage.consumer_group cimport Consumer, ConsumerGroup
from storage.rax cimport Rax
from storage.stream cimport Stream
