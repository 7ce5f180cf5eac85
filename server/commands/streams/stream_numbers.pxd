from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_args, stream_reply
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.stream.positions cimport Positions
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
