cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.table.command cimport Block, Command
from server.users.user cimport User
from server.client.command_queue cimport CommandQueue
from server.client.endpoint cimport Endpoint
from server.client.held_replies cimport HeldReplies
from server.client.subscriptions cimport Subscriptions
from server.client.tracking_options cimport TrackingOptions

cdef int64_t REPLY_PEAK_MS


cdef class Waiter


@cython.final
cdef class Client:
    cdef readonly uint64_t id
    cdef readonly Encoder out
    cdef readonly int resp
    cdef public int db_index
    cdef public int flags
    cdef public bytes name
    cdef public bytes lib_name
    cdef public bytes lib_version
    cdef public User user
    cdef public str address
    cdef public str local_address
    cdef public str certificate_name
    cdef public int fd
    cdef public int64_t created_ms
    cdef public int64_t last_used_ms
    cdef public Command last_command
    cdef public uint64_t commands
    cdef public uint64_t reads
    cdef public uint64_t batches
    cdef public uint64_t batched
    cdef public uint64_t received
    cdef public uint64_t received_before
    cdef public uint64_t sent
    cdef readonly Py_ssize_t reply_peak
    cdef public int64_t reply_peak_ms
    cdef public int64_t memory
    cdef public int64_t held
    cdef public bint no_evict
    cdef public bint no_touch
    cdef public bint is_to_resume
    cdef public Client next_to_resume
    cdef public int skip
    cdef public CommandQueue queue
    cdef public bint dirty_exec
    cdef public bint dirty_watch
    cdef public dict watching
    cdef public Subscriptions subscriptions
    cdef public TrackingOptions tracking
    cdef public uint64_t written_offset
    cdef public uint64_t replicated_offset
    cdef public HeldReplies acks
    cdef public object replica
    cdef public Waiter waiter
    cdef public list postponed
    cdef public Py_ssize_t argv_size
    cdef public bint script_left
    cdef public bint close_after_reply
    cdef public bint has_left
    cdef public Endpoint endpoint

    @cython.locals(argv=list, word=bytes)
    cpdef Py_ssize_t argv_bytes(self) except -1
    cpdef postpone(self, list argv)
    cpdef count_sent(self, Py_ssize_t size)
    cpdef connection_lost(self)
    cpdef refuse(self, object error)
    cpdef set_flag(self, int flag)
    cpdef clear_flag(self, int flag)


cdef class Standing:
    cdef public Standing at_next_key

    cpdef leave(self)
    cpdef go_to_tail(self)


@cython.final
@cython.freelist(64)
cdef class Waiter:
    cdef readonly Client client
    cdef public list argv
    cdef public Block block
    cdef public int64_t due_ms
    cdef public Standing standing
    cdef public int64_t turn
    cdef public int64_t wake_at_ms


@cython.locals(made=Waiter)
cpdef Waiter new_waiter(Client client, list argv, Block block, int64_t due_ms)
