from storage.keyspace.keyspace cimport Keyspace

cpdef object absolute_ms(bytes text, bytes unit, object now_ms, str name)
cpdef object checked_ms(object number, bytes unit, object now_ms, str name)
cpdef expire(Keyspace db, bytes key, object when_ms, object now_ms, bint is_replayed)
