from protocol.encoder cimport Encoder
from server.commands.streams.groups cimport group_steps
from server.commands.streams.claiming.claim cimport Claim
from server.table.args cimport Args
from server.dispatch.call cimport Call

from storage.stream cimport stream_id
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
