cimport cython

from server.client.client cimport Client
from server.client.pushes cimport Pushes
from server.parts.waiting.blocking cimport Blocking
from server.parts.eviction.client_eviction cimport ClientEviction
from server.parts.eviction.key_eviction cimport KeyEviction
from server.parts.node_limits cimport NodeLimits
from server.parts.waiting.pausing cimport Pausing
from server.parts.restrictions cimport Restrictions
from server.parts.server_key_events cimport ServerKeyEvents
from server.parts.eviction.value_packing cimport ValuePacking
from server.observe.command_stats cimport CommandStats
from server.observe.command_times cimport CommandTimes
from server.observe.large_commands cimport LargeCommands
from server.observe.loop_times cimport LoopTimes
from server.observe.memory cimport Memory
from server.observe.monitors cimport Monitors
from server.observe.part cimport Part
from server.observe.stats cimport Stats
from server.parts.watching cimport Watching
from server.parts.propagation.propagation cimport Propagation
from server.parts.pubsub.pubsub cimport PubSub
from server.parts.scripting.scripting cimport Scripting
from server.parts.tracking.tracking cimport Tracking


@cython.final
cdef class ServerState:
    cdef readonly object config
    cdef readonly object clock
    cdef readonly object instance
    cdef readonly object supervision
    cdef public object shutdown
    cdef public object addresses
    cdef readonly list databases
    cdef readonly dict clients
    cdef readonly Memory memory
    cdef readonly NodeLimits node_limits
    cdef readonly Stats stats
    cdef readonly CommandStats command_stats
    cdef readonly LoopTimes loop_times
    cdef readonly object loop_lag
    cdef readonly Blocking blocking
    cdef readonly object agenda
    cdef readonly Watching watching
    cdef readonly Pausing pausing
    cdef readonly Pushes pushes
    cdef readonly PubSub pubsub
    cdef readonly Tracking tracking
    cdef readonly object access
    cdef readonly Monitors monitors
    cdef readonly Scripting scripting
    cdef readonly object slow_log
    cdef readonly object hash_imports
    cdef readonly object hot_keys
    cdef readonly object key_sizes
    cdef readonly object survey
    cdef readonly object latency_events
    cdef readonly CommandTimes command_times
    cdef readonly LargeCommands large_commands
    cdef readonly Propagation propagation
    cdef readonly ServerKeyEvents events
    cdef readonly object persistence
    cdef readonly object replication
    cdef readonly object replay_failures
    cdef readonly Restrictions restrictions
    cdef readonly KeyEviction key_eviction
    cdef readonly ClientEviction client_eviction
    cdef readonly ValuePacking value_packing
    cdef readonly object stream_compaction
    cdef readonly object stream_index
    cdef readonly object stream_policies
    cdef readonly list parts

    @cython.locals(part=Part)
    cpdef client_left(self, Client client)
