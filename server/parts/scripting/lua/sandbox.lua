-- Makes the world that scripts see. Everything that scripts share is read-only: no script can leave
-- anything for another one, nor reach what is not given to it here.
--
-- Arguments: the table `redis`, the one that a library sees while it is loaded, and the most bytes
-- that string.rep may make. Returns the table of globals; the one behind it, into which the
-- interpreter puts KEYS and ARGV; the metatable whose __index says which one that is; the one that
-- is behind it while a library is loaded; and the error handler.

local redis, loading, longest = ...

local assert, error, getmetatable, next, pairs = assert, error, getmetatable, next, pairs
local pcall, rawget, rawset, setmetatable = pcall, rawget, rawset, setmetatable
local tonumber = tonumber
local tostring, type, newproxy, loadstring = tostring, type, newproxy, loadstring
local collectgarbage, select, unpack = collectgarbage, select, unpack
local byte, rep, concat, getinfo = string.byte, string.rep, table.concat, debug.getinfo

local COLLECTING = {stop = true, restart = true, setpause = true, setstepmul = true}
local MOST_UNPACKED = 8000  -- values; Lua's stack has no room for more

-- ---------------------------------------------------------------------- errors

-- Every error becomes a table that says where in a script it has happened.
local function describe(problem)
    local level = 2
    local place = getinfo(level, "Sl")
    while place and (place.what == "C" or byte(place.source) == 61) do  -- 61: ours are "=name"
        level = level + 1
        place = getinfo(level, "Sl")
    end
    if type(problem) ~= "table" then
        problem = {err = "ERR " .. tostring(problem)}
    end
    if place then
        rawset(problem, "source", place.source)
        rawset(problem, "line", place.currentline)
    end
    return problem
end

local function reply_of(field)
    return function(...)
        local text = ...
        if select("#", ...) ~= 1 or type(text) ~= "string" then
            return {err = "ERR wrong number or type of arguments"}
        end
        if field == "err" then
            if byte(text) == 45 then text = text:sub(2) end  -- "-"
            if not text:find(" ", 1, true) then text = "ERR " .. text end
        end
        return {[field] = text}
    end
end

redis.error_reply = reply_of("err")
redis.status_reply = reply_of("ok")
redis.breakpoint = function() return false end
redis.debug = function() end
redis.replicate_commands = function() return true end

-- ---------------------------------------------------------------------- read-only tables

-- Stands for a table: a userdata, so that rawset and its like have no hold on it.
local inner_of = setmetatable({}, {__mode = "k"})

local function refuse()
    error("Attempt to modify a readonly table", 2)
end

local function read_only(inner)
    local stands = newproxy(true)
    local meta = getmetatable(stands)
    meta.__index = inner
    meta.__newindex = refuse
    meta.__metatable = false
    inner_of[stands] = inner
    return stands
end

local function missing(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end

-- ---------------------------------------------------------------------- functions that need care

local world = {}
local text_functions

-- The error of Lua's own functions if argument *at* is not of the kind *wanted*. *...*: all of them.
local function kind_error(at, name, wanted, ...)
    local given = at > select("#", ...) and "no value" or type((select(at, ...)))
    local text = "bad argument #%d to '%s' (%s expected, got %s)"
    error(text:format(at, name, wanted, given), 3)
end

-- The error of Lua's own functions if there are fewer than *least* arguments. *...*: all of them.
local function check_count(least, name, ...)
    local given = select("#", ...)
    if given < least then
        error(("bad argument #%d to '%s' (value expected)"):format(given + 1, name), 3)
    end
end

function world.pairs(...)
    local items = ...
    local inner = inner_of[items]
    if inner then
        local copy = {}
        for name, value in next, inner do copy[name] = value end
        return next, copy, nil
    end
    if type(items) ~= "table" then kind_error(1, "pairs", "table", ...) end
    return next, items, nil
end

function world.rawset(...)
    local items, name, value = ...
    if inner_of[items] then error("Attempt to modify a readonly table", 0) end
    if type(items) ~= "table" then kind_error(1, "rawset", "table", ...) end
    check_count(3, "rawset", ...)
    return rawset(items, name, value)
end

function world.rawget(...)
    local items, name = ...
    items = inner_of[items] or items
    if type(items) ~= "table" then kind_error(1, "rawget", "table", ...) end
    check_count(2, "rawget", ...)
    return rawget(items, name)
end

function world.setmetatable(...)
    local items, meta = ...
    if inner_of[items] then error("Attempt to modify a readonly table", 0) end
    if type(items) ~= "table" then kind_error(1, "setmetatable", "table", ...) end
    if select("#", ...) < 2 or (meta ~= nil and type(meta) ~= "table") then
        error("bad argument #2 to 'setmetatable' (nil or table expected)", 2)
    end
    return setmetatable(items, meta)
end

function world.getmetatable(...)
    local value = ...
    check_count(1, "getmetatable", ...)
    if type(value) == "string" then return text_functions end
    if inner_of[value] then return nil end
    return getmetatable(value)
end

-- Of an error that is a table, as those of redis.call are, scripts get the text.
local function tell(is_done, problem, ...)
    if not is_done and type(problem) == "table" then
        local text = problem.err
        if type(text) ~= "string" and type(text) ~= "number" then return false, problem, text end
        return false, text
    end
    return is_done, problem, ...
end

function world.pcall(...)
    check_count(1, "pcall", ...)
    return tell(pcall(...))
end

-- Lua counts what it unpacks with overflow (CVE-2025-46817), after it has cut both numbers to ints.
local function is_int(number)
    return number > -2^31 and number < 2^31 - 1
end

function world.unpack(...)
    local items, first, last = ...
    if type(items) ~= "table" then kind_error(1, "unpack", "table", ...) end
    local from, to = tonumber(first or 1), tonumber(last or #items)
    if from and to and not (is_int(from) and is_int(to) and to - from < MOST_UNPACKED) then
        error("too many results to unpack", 2)
    end
    return unpack(items, first or 1, last or #items)
end

-- Only text: who can load bytecode can read and write the memory of the process.
function world.loadstring(...)
    local source, name = ...
    if type(source) == "number" then source = tostring(source) end
    if type(source) ~= "string" then kind_error(1, "loadstring", "string", ...) end
    if byte(source) == 27 then
        local chunk = name or source:match("^[^%z\n]*")
        return nil, '[string "' .. chunk .. '"]:1: unexpected symbol near \'char(27)\''
    end
    collectgarbage("stop")  -- the parser does not protect all that it works with
    local loaded, problem = loadstring(source, name)
    collectgarbage("restart")
    return loaded, problem
end

function world.load(...)
    local piece, name = ...
    if type(piece) ~= "function" then kind_error(1, "load", "function", ...) end
    local pieces = {}
    while true do
        local text = piece()
        if text == nil or text == "" then break end
        if type(text) ~= "string" then return nil, "reader function must return a string" end
        pieces[#pieces + 1] = text
    end
    return world.loadstring(concat(pieces), name or "=(load)")
end

-- The collector serves all scripts: none may stop it.
function world.collectgarbage(what, ...)
    if what == nil or what == "collect" or what == "count" or what == "step" then
        return collectgarbage(what, ...)
    end
    if not COLLECTING[what] then
        local text = "bad argument #1 to 'collectgarbage' (invalid option '%s')"
        error(text:format(tostring(what)), 2)
    end
    return 0
end

string.rep = function(...)
    local text, times = ...
    local count = tonumber(times)
    if type(text) ~= "string" and type(text) ~= "number" then
        kind_error(1, "rep", "string", ...)
    end
    if not count then kind_error(2, "rep", "number", ...) end
    if #tostring(text) == 0 then return "" end
    if #tostring(text) * count > longest then error("not enough memory", 2) end
    return rep(text, count)
end
string.dump = nil

-- ---------------------------------------------------------------------- what scripts see

for _, name in pairs({
    "assert", "error", "gcinfo", "ipairs", "next", "rawequal", "select", "tonumber",
    "tostring", "type", "xpcall", "_VERSION",
}) do
    world[name] = assert(_G[name], name)
end
for _, name in pairs({
    "bit", "cjson", "cmsgpack", "coroutine", "math", "os", "string", "struct", "table",
}) do
    world[name] = read_only(_G[name])
end
world.redis = read_only(redis)
world.server = world.redis
text_functions = read_only({__index = world.string})

local globals = {}
world._G = read_only(globals)
local sight = {__index = world, __newindex = refuse, __metatable = false}
setmetatable(globals, sight)
setmetatable(world, {__index = missing})

-- A library that is loaded sees nothing but `redis`, as in Redis; its functions see all.
setmetatable(loading, {__index = missing})
local nursery = {redis = read_only(loading)}
nursery.server = nursery.redis
setmetatable(nursery, {__index = missing})

return globals, world, sight, nursery, describe
