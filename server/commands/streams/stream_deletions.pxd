from server.commands.streams cimport stream_steps
from server.commands.streams.stream_args cimport Doomed
from server.dispatch.call cimport Call
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.deletions cimport Deletion, Done
from storage.stream.stream cimport Stream
