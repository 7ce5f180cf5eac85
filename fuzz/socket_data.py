"""The data that clients of the fuzzer of sockets ask for: made before they come, and again later.

    big          a string of 20 MB         list:big, stream:big, hash:big, ...    1 to 3 MB each
    q:0 .. q:2   the lists, sorted sets and streams that clients wait for

Users: the default one, with PASSWORD if the server has one; ann, who may do all, and bob, who may
read. A client can log in as each with PASSWORD.
"""

from __future__ import annotations

from fuzz.socket_requests import Requests

PASSWORD = "secret"
BIG = 20_000_000
LARGE_KEYS = ("list:big", "stream:big", "hash:big", "set:big", "zset:big")

FILL = """
local text = string.rep('x', 100)
if redis.call('DBSIZE') > 20000 then redis.call('FLUSHDB') end
for _, key in ipairs({'list:big', 'stream:big', 'hash:big', 'set:big', 'zset:big'}) do
  redis.call('DEL', key)
end
for i = 1, tonumber(ARGV[1]) do
  redis.call('RPUSH', 'list:big', text .. i)
  redis.call('XADD', 'stream:big', i .. '-1', 'field', text)
  redis.call('HSET', 'hash:big', i, text)
  redis.call('SADD', 'set:big', text .. i)
  redis.call('ZADD', 'zset:big', i, text .. i)
end
for i = 0, 2 do
  redis.pcall('XGROUP', 'CREATE', 'stream:' .. i, 'g', '0', 'MKSTREAM')
  redis.pcall('XGROUP', 'CREATE', 'q:stream:' .. i, 'g', '0', 'MKSTREAM')
end
redis.pcall('XGROUP', 'CREATE', 'stream:big', 'g', '0')
return redis.call('DBSIZE')
"""

LIBRARY = """#!lua name=fuzzed
local function spin(keys, args) for i = 1, tonumber(args[1]) do end return 'done' end
redis.register_function('run', function(keys, args) return redis.call(unpack(args)) end)
redis.register_function{function_name = 'spin', callback = spin, flags = {'no-writes'}}
redis.register_function('write_and_spin', function(keys, args)
  redis.call('SET', keys[1], 'v') return spin(keys, args) end)
"""


def filled(items: int, requests: Requests) -> Requests:
    """*requests*, and what makes the data, *items* of each large value, and the users."""
    requests.add("EVAL", FILL, 0, items)
    requests.add("FUNCTION", "LOAD", "REPLACE", LIBRARY)
    requests.add(*f"ACL SETUSER ann on >{PASSWORD} ~* &* +@all".split())
    requests.add(*f"ACL SETUSER bob on >{PASSWORD} ~* &* +@read +@connection".split())
    return requests


def with_big_string(requests: Requests) -> Requests:
    """*requests*, and the large string."""
    return requests.add("SETRANGE", "big", BIG, "x")
