from protocol.encoder cimport Encoder
from server.commands.hashes cimport hash_reply, hash_steps
from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash


cdef object _one_side(Call call, bint fields)
