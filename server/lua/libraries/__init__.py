"""The libraries that Redis gives to scripts beside Lua's own: bit, cjson, cmsgpack, struct."""
