from protocol.encoder cimport Encoder
from server.commands.hashes cimport hash_reply, hash_steps, live_fields
from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash


cdef bint _has_expired(Call call, Hash value) except -1
cdef object _one_side(Call call, bint fields)
