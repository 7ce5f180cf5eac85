from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_args, stream_reply
from server.commands.streams.adding cimport add_options, stream_expiries, stream_once, stream_steps
from server.table.args cimport Args
from server.dispatch.call cimport Call
from server.commands.streams.stream_args cimport Trim
from server.commands.streams.adding.add_options cimport AddOptions
from storage cimport octets
from storage.stream cimport stream_id
from storage.stream.deletions cimport Done
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
