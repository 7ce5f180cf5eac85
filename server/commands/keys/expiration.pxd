from server.dispatch.call cimport Call

cdef object _expire(Call call, bytes unit, str name)
