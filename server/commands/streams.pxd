from protocol.encoder cimport Encoder
from server cimport stream_reply
from server.args cimport Args
from server.call cimport Call
from storage cimport stream_id
from storage.stream cimport Stream
from storage.stream_id cimport StreamId
