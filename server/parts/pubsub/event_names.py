"""The names of keyspace events, and the class of each. Both are Redis's, but for OWN.

Source: https://redis.io/docs/latest/develop/pubsub/keyspace-notifications/
"""

from __future__ import annotations

from server.config.event_classes import EventClass

OWN = "xschedule xunschedule xexpireat xcfgset xgroup-cfgset"  # of streams: docs/queues.md

_NAMES = {
    EventClass.GENERIC: "del expire persist rename_from rename_to move_from move_to copy_to"
    " restore",
    EventClass.STRING: "set setrange incrby incrbyfloat append setbit pfadd",
    EventClass.LIST: "lpush rpush lpop rpop linsert lset lrem ltrim sortstore",
    EventClass.SET: "sadd srem spop sinterstore sunionstore sdiffstore",
    EventClass.HASH: "hset hdel hincrby hincrbyfloat hexpire hpersist hexpired",
    EventClass.SORTED_SET: "zadd zincr zrem zpopmin zpopmax zremrangebyrank zremrangebyscore"
    " zremrangebylex zrangestore zunionstore zinterstore zdiffstore geosearchstore georadiusstore",
    EventClass.STREAM: "xadd xdel xtrim xsetid xgroup-create xgroup-setid xgroup-destroy"
    f" xgroup-createconsumer xgroup-delconsumer {OWN}",
    EventClass.EXPIRED: "expired",
    EventClass.EVICTED: "evicted",
    EventClass.KEY_MISS: "keymiss",
    EventClass.NEW: "new",
    EventClass.OVERWRITTEN: "overwritten",
    EventClass.TYPE_CHANGED: "type_changed",
}
CLASS_OF = {
    name.encode(): int(event_class)
    for event_class, names in _NAMES.items()
    for name in names.split()
}
