from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.dispatch.call cimport Call
from storage cimport octets
from storage.stream cimport group_lag
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.rax.rax cimport Rax
from storage.stream.stream cimport Stream
