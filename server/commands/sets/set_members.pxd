from protocol.encoder cimport Encoder
from server.commands.sets cimport set_steps
from server.dispatch.call cimport Call
from storage.sets.member_set cimport MemberSet
