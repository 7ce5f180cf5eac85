"""The limits of nodes follow the configuration."""

from __future__ import annotations


def test_the_limits_are_those_of_the_configuration(server):
    limits = server.state.node_limits
    config = server.state.config
    assert limits.stream.node_max_bytes == config.stream_node_max_bytes
    assert limits.stream.node_max_entries == config.stream_node_max_entries
    assert limits.list_size == config.list_max_listpack_size
    assert limits.sets.intset_entries == config.set_max_intset_entries == 512
    assert limits.sets.listpack_entries == config.set_max_listpack_entries == 128
    assert limits.sets.listpack_value == config.set_max_listpack_value == 64
    assert limits.hash.entries == config.hash_max_listpack_entries
    assert limits.hash.value == config.hash_max_listpack_value
    assert limits.sorted_set.entries == config.zset_max_listpack_entries == 128
    assert limits.sorted_set.value == config.zset_max_listpack_value == 64


def test_the_limits_follow_config_set(server):
    server.send_line("CONFIG SET stream-node-max-bytes 5 stream-node-max-entries 6")
    server.send_line("CONFIG SET list-max-listpack-size 7")
    server.send_line("CONFIG SET set-max-intset-entries 8 set-max-listpack-entries 9")
    server.send_line("CONFIG SET set-max-listpack-value 10")
    server.send_line("CONFIG SET hash-max-listpack-entries 8 hash-max-listpack-value 9")
    server.send_line("CONFIG SET zset-max-listpack-entries 10 zset-max-ziplist-value 11")
    limits = server.state.node_limits
    assert limits.stream.node_max_bytes == 5
    assert limits.stream.node_max_entries == 6
    assert limits.list_size == 7
    sets = limits.sets
    assert (sets.intset_entries, sets.listpack_entries, sets.listpack_value) == (8, 9, 10)
    assert (limits.hash.entries, limits.hash.value) == (8, 9)
    assert (limits.sorted_set.entries, limits.sorted_set.value) == (10, 11)
