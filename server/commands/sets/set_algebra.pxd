from protocol.encoder cimport Encoder
from server.commands.sets cimport set_steps
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.sets cimport set_operations
from storage.sets.member_set cimport MemberSet
from storage.strings cimport hyperloglog
