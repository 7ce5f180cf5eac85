from server.dispatch.call cimport Call

cpdef object absolute_ms(bytes text, bytes unit, object now_ms, str name)
cpdef object checked_ms(object number, bytes unit, object now_ms, str name)
cpdef expire(Call call, bytes key, object when_ms)
