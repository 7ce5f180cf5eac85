from server.dispatch.call cimport Call
from server.parts.expiry cimport expire_times

cdef object _expire(Call call, bytes unit, str name)
