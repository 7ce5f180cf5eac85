from server.commands.streams.adding cimport stream_once
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.stream cimport stream_id
from storage.stream.producers cimport Producers
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
