from protocol.encoder cimport Encoder
from server cimport stream_args, stream_reply, stream_steps
from server.args cimport Args
from server.call cimport Call
from server.stream_args cimport Trim
from storage cimport stream_id
from storage.stream cimport Stream
from storage.stream_id cimport StreamId
