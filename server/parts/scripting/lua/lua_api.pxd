# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memcmp

from protocol cimport wire

# The functions of Lua's own C interface (www.lua.org/manual/5.1), as far as they are used. They are
# found when a module is loaded: lua_library.py has loaded Lua by then.
cdef extern from *:
    """
    #include <stddef.h>
    #include <stdlib.h>
    #include <string.h>
    typedef struct lua_State lua_State;
    typedef struct lua_Debug {
        int event;
        const char *name;
        const char *namewhat;
        const char *what;
        const char *source;
        int currentline;
        char rest[1024]; /* what is not needed here: more than enough */
    } lua_Debug;
    typedef int (*lua_CFunction)(lua_State *);
    typedef void (*lua_Hook)(lua_State *, lua_Debug *);
    typedef void *(*lua_Alloc)(void *, void *, size_t, size_t);
    extern lua_State *lua_newstate(lua_Alloc, void *);
    extern void lua_close(lua_State *);
    extern lua_Alloc lua_getallocf(lua_State *, void **);
    extern int lua_gettop(lua_State *);
    extern void lua_settop(lua_State *, int);
    extern void lua_pushvalue(lua_State *, int);
    extern void lua_remove(lua_State *, int);
    extern void lua_insert(lua_State *, int);
    extern void lua_replace(lua_State *, int);
    extern int lua_checkstack(lua_State *, int);
    extern int lua_type(lua_State *, int);
    extern int lua_isnumber(lua_State *, int);
    extern double lua_tonumber(lua_State *, int);
    extern int lua_toboolean(lua_State *, int);
    extern const char *lua_tolstring(lua_State *, int, size_t *);
    extern size_t lua_objlen(lua_State *, int);
    extern void *lua_touserdata(lua_State *, int);
    extern lua_CFunction lua_tocfunction(lua_State *, int);
    extern void lua_pushnil(lua_State *);
    extern void lua_pushnumber(lua_State *, double);
    extern void lua_pushlstring(lua_State *, const char *, size_t);
    extern void lua_pushcclosure(lua_State *, lua_CFunction, int);
    extern void lua_pushboolean(lua_State *, int);
    extern void lua_pushlightuserdata(lua_State *, void *);
    extern void lua_createtable(lua_State *, int, int);
    extern void *lua_newuserdata(lua_State *, size_t);
    extern void lua_rawget(lua_State *, int);
    extern void lua_rawset(lua_State *, int);
    extern void lua_rawgeti(lua_State *, int, int);
    extern void lua_rawseti(lua_State *, int, int);
    extern int lua_setmetatable(lua_State *, int);
    extern int lua_getmetatable(lua_State *, int);
    extern void lua_call(lua_State *, int, int);
    extern int lua_pcall(lua_State *, int, int, int);
    extern int lua_error(lua_State *);
    extern int lua_next(lua_State *, int);
    extern int lua_gc(lua_State *, int, int);
    extern int lua_sethook(lua_State *, lua_Hook, int, int);
    extern int luaL_loadbuffer(lua_State *, const char *, size_t, const char *);
    extern int lua_getstack(lua_State *, int, lua_Debug *);
    extern int lua_getinfo(lua_State *, const char *, lua_Debug *);
    extern void luaL_where(lua_State *, int);
    extern int luaL_ref(lua_State *, int);
    extern void luaL_unref(lua_State *, int, int);
    extern int luaL_error(lua_State *, const char *, ...);
    extern int luaopen_base(lua_State *);
    extern int luaopen_table(lua_State *);
    extern int luaopen_string(lua_State *);
    extern int luaopen_math(lua_State *);
    extern int luaopen_debug(lua_State *);

    #define PENSTOCK_UPVALUE(i) (-10002 - (i))
    #define PENSTOCK_MASKCOUNT 8

    /* What the values of one interpreter take. A script that takes more than the limit gets an
       error, thrown by longjmp. That must not cross Python's frames: while a function of ours works
       (lenient > 0), memory is given beyond the limit. A script that ends is refused all memory: of
       all errors, this one alone does not run the script's own handlers; and none of its coroutines
       can make another one, to which nothing has been said of the end.
       Small blocks are not given back to the system at once: of each size, PENSTOCK_SPARES wait to be
       used again. Each script makes some tables and leaves them, and malloc takes longer. */
    #define PENSTOCK_GRAIN 16 /* bytes: sizes of small blocks are multiples of it */
    #define PENSTOCK_SIZES 16 /* of small blocks */
    #ifdef __SANITIZE_ADDRESS__
    #define PENSTOCK_SPARES 0 /* what is freed must not be used */
    #else
    #define PENSTOCK_SPARES 1024
    #endif

    typedef struct {
        size_t used;
        size_t limit;
        int lenient;
        int ends;
        lua_CFunction counted; /* asked every so many instructions whether the script must end */
        void *spares[PENSTOCK_SIZES]; /* the last one of each size; each begins with the one before */
        int spare_count[PENSTOCK_SIZES];
    } penstock_lua_memory;

    /* Which small size holds so many bytes, from 0 on; PENSTOCK_SIZES or more: none. */
    static inline size_t penstock_size_of(size_t bytes) {
        return (bytes - 1) / PENSTOCK_GRAIN;
    }

    static inline void *penstock_take_block(penstock_lua_memory *m, size_t bytes) {
        size_t size = penstock_size_of(bytes);
        void *block;
        if (size >= PENSTOCK_SIZES) return malloc(bytes);
        block = m->spares[size];
        if (block == NULL) return malloc((size + 1) * PENSTOCK_GRAIN);
        m->spares[size] = *(void **)block;
        m->spare_count[size]--;
        return block;
    }

    static inline void penstock_give_block(penstock_lua_memory *m, void *block, size_t bytes) {
        size_t size = penstock_size_of(bytes);
        if (size >= PENSTOCK_SIZES || m->spare_count[size] >= PENSTOCK_SPARES) {
            free(block);
            return;
        }
        *(void **)block = m->spares[size];
        m->spares[size] = block;
        m->spare_count[size]++;
    }

    static inline void *penstock_resize_block(
        penstock_lua_memory *m, void *block, size_t old, size_t bytes
    ) {
        size_t size = penstock_size_of(bytes);
        void *moved;
        if (size >= PENSTOCK_SIZES && penstock_size_of(old) >= PENSTOCK_SIZES)
            return realloc(block, bytes);
        if (size == penstock_size_of(old)) return block;
        moved = penstock_take_block(m, bytes);
        if (moved == NULL) return bytes < old ? block : NULL; /* Lua relies on it that it can shrink */
        memcpy(moved, block, bytes < old ? bytes : old);
        penstock_give_block(m, block, old);
        return moved;
    }

    static inline void penstock_free_spares(penstock_lua_memory *m) {
        int size;
        for (size = 0; size < PENSTOCK_SIZES; size++)
            while (m->spares[size] != NULL) {
                void *block = m->spares[size];
                m->spares[size] = *(void **)block;
                free(block);
            }
    }

    static void *penstock_lua_alloc(void *memory, void *block, size_t old, size_t size) {
        penstock_lua_memory *m = (penstock_lua_memory *)memory;
        void *moved;
        if (size == 0) {
            if (block != NULL) penstock_give_block(m, block, old);
            m->used -= old;
            return NULL;
        }
        if (size > old && !m->lenient && (m->ends || m->used + (size - old) > m->limit))
            return NULL;
        moved = block == NULL ? penstock_take_block(m, size)
                              : penstock_resize_block(m, block, old, size);
        if (moved != NULL) m->used += size - old;
        return moved;
    }

    static inline penstock_lua_memory *penstock_memory_of(lua_State *L) {
        void *memory;
        lua_getallocf(L, &memory);
        return (penstock_lua_memory *)memory;
    }

    static inline lua_State *penstock_lua_open(size_t limit) {
        penstock_lua_memory *m = (penstock_lua_memory *)calloc(1, sizeof(penstock_lua_memory));
        lua_State *L;
        if (m == NULL) return NULL;
        m->limit = limit;
        m->lenient = 1;
        L = lua_newstate(penstock_lua_alloc, m);
        if (L == NULL) free(m);
        return L;
    }

    static inline void penstock_lua_close(lua_State *L) {
        penstock_lua_memory *m = penstock_memory_of(L);
        lua_close(L);
        penstock_free_spares(m);
        free(m);
    }

    static void penstock_hook(lua_State *L, lua_Debug *where);

    /* Throws, and so does each instruction from here on, since the script may catch what is thrown. */
    static int penstock_end(lua_State *L) {
        lua_sethook(L, penstock_hook, PENSTOCK_MASKCOUNT, 1);
        penstock_memory_of(L)->ends = 1;
        lua_newuserdata(L, 1);
        return 0;
    }

    static void penstock_hook(lua_State *L, lua_Debug *where) {
        penstock_lua_memory *m = penstock_memory_of(L);
        int ends = m->ends;
        (void)where;
        if (!ends) {
            m->lenient++;
            ends = m->counted(L);
            m->lenient--;
        }
        if (ends) penstock_end(L);
    }

    static inline void penstock_set_hook(lua_State *L, lua_CFunction counted, int count) {
        penstock_lua_memory *m = penstock_memory_of(L);
        m->counted = counted;
        m->ends = 0;
        lua_sethook(L, penstock_hook, PENSTOCK_MASKCOUNT, count);
    }

    /* Calls the function of ours in the first upvalue. If it returns -1, what it leaves is thrown; if
       it returns -2, the script ends. One that has gone beyond the limit, by what it was given before,
       must have room again first. */
    static int penstock_trampoline(lua_State *L) {
        lua_CFunction native = (lua_CFunction)lua_touserdata(L, PENSTOCK_UPVALUE(1));
        penstock_lua_memory *m = penstock_memory_of(L);
        int results;
        if (m->used > m->limit && !m->ends) lua_gc(L, 2, 0);
        if (m->ends || m->used > m->limit) lua_newuserdata(L, 1);
        m->lenient++;
        results = native(L);
        m->lenient--;
        if (results == -2) return penstock_end(L);
        return results < 0 ? lua_error(L) : results;
    }

    static inline void penstock_push_native(lua_State *L, lua_CFunction native) {
        lua_pushlightuserdata(L, (void *)native);
        lua_pushcclosure(L, penstock_trampoline, 1);
    }

    static inline void penstock_push_native_with(lua_State *L, lua_CFunction native) {
        lua_pushlightuserdata(L, (void *)native);
        lua_insert(L, -2);
        lua_pushcclosure(L, penstock_trampoline, 2);
    }

    /* By which name the running function was called, or NULL. */
    static inline const char *penstock_called_as(lua_State *L, int *method) {
        lua_Debug running;
        *method = 0;
        if (!lua_getstack(L, 0, &running) || !lua_getinfo(L, "n", &running)) return NULL;
        *method = running.namewhat[0] == 'm';
        return running.name;
    }

    /* Calls the function in the first upvalue, if its second argument is short enough. */
    static int penstock_bounded(lua_State *L) {
        lua_CFunction inner = lua_tocfunction(L, PENSTOCK_UPVALUE(1));
        if (lua_type(L, 2) == 4 && lua_objlen(L, 2) > lua_tonumber(L, PENSTOCK_UPVALUE(2)))
            return luaL_error(L, "pattern too long");
        return inner(L);
    }

    /* Calls the function in the first upvalue, table.insert, unless the place is far from the table: it
       would move what is not there, item by item, and nothing could end it. */
    static int penstock_bounded_insert(lua_State *L) {
        lua_CFunction inner = lua_tocfunction(L, PENSTOCK_UPVALUE(1));
        if (lua_gettop(L) == 3 && lua_isnumber(L, 2)) {
            double at = lua_tonumber(L, 2);
            if (!(at >= lua_tonumber(L, PENSTOCK_UPVALUE(2)) && at < 2147483648.0))
                return luaL_error(L, "bad argument #2 to 'insert' (position out of bounds)");
        }
        return inner(L);
    }

    /* Pushes where the script is: the innermost of its functions, not one of the sandbox's ("=name"). */
    static inline void penstock_push_script_place(lua_State *L) {
        lua_Debug at;
        int level;
        for (level = 0; lua_getstack(L, level, &at); level++) {
            if (lua_getinfo(L, "Sl", &at) && at.currentline > 0 && at.source[0] != '=') {
                luaL_where(L, level);
                return;
            }
        }
        lua_pushlstring(L, "", 0);
    }

    static inline int penstock_call(lua_State *L, int arguments, int results, int handler) {
        penstock_lua_memory *m = penstock_memory_of(L);
        int lenient = m->lenient, status;
        m->lenient = 0;
        status = lua_pcall(L, arguments, results, handler);
        m->lenient = lenient;
        return status;
    }

    /* The parser does not protect the name of the chunk that it reads (CVE-2025-49844): nothing is
       collected meanwhile. Its own errors do not leave it. */
    static inline int penstock_load(
        lua_State *L, const char *source, size_t size, const char *name
    ) {
        penstock_lua_memory *m = penstock_memory_of(L);
        int lenient = m->lenient, status;
        lua_gc(L, 0, 0);
        m->ends = 0;
        m->lenient = 0;
        status = luaL_loadbuffer(L, source, size, name);
        m->lenient = lenient;
        lua_gc(L, 1, 0);
        return status;
    }

    static inline void penstock_open_library(lua_State *L, lua_CFunction opener, const char *name) {
        size_t size = 0;
        while (name[size]) size++;
        lua_pushcclosure(L, opener, 0);
        lua_pushlstring(L, name, size);
        lua_call(L, 1, 0);
    }

    static inline void penstock_open_libraries(lua_State *L) {
        penstock_open_library(L, luaopen_base, "");
        penstock_open_library(L, luaopen_table, "table");
        penstock_open_library(L, luaopen_string, "string");
        penstock_open_library(L, luaopen_math, "math");
        penstock_open_library(L, luaopen_debug, "debug");
    }
    """
    ctypedef struct lua_State
    ctypedef int (*lua_CFunction)(lua_State *L) noexcept
    lua_State *penstock_lua_open(size_t limit) noexcept
    void penstock_lua_close(lua_State *L) noexcept
    void penstock_open_libraries(lua_State *L) noexcept
    void penstock_push_native(lua_State *L, lua_CFunction native) noexcept
    void penstock_push_native_with(lua_State *L, lua_CFunction native) noexcept
    const char *penstock_called_as(lua_State *L, int *method) noexcept
    int penstock_bounded(lua_State *L) noexcept
    int penstock_bounded_insert(lua_State *L) noexcept
    void penstock_push_script_place(lua_State *L) noexcept
    int penstock_call(lua_State *L, int arguments, int results, int handler) noexcept
    int penstock_load(lua_State *L, const char *source, size_t size, const char *name) noexcept
    void penstock_set_hook(lua_State *L, lua_CFunction counted, int count) noexcept
    ctypedef struct penstock_lua_memory:
        size_t used
        size_t limit
    penstock_lua_memory *penstock_memory_of(lua_State *L) noexcept

    int lua_gettop(lua_State *L) noexcept
    void lua_settop(lua_State *L, int top) noexcept
    void lua_pushvalue(lua_State *L, int at) noexcept
    void lua_remove(lua_State *L, int at) noexcept
    void lua_insert(lua_State *L, int at) noexcept
    void lua_replace(lua_State *L, int at) noexcept
    int lua_checkstack(lua_State *L, int more) noexcept
    int lua_type(lua_State *L, int at) noexcept
    int lua_isnumber(lua_State *L, int at) noexcept
    double lua_tonumber(lua_State *L, int at) noexcept
    int lua_toboolean(lua_State *L, int at) noexcept
    const char *lua_tolstring(lua_State *L, int at, size_t *size) noexcept
    size_t lua_objlen(lua_State *L, int at) noexcept
    void *lua_touserdata(lua_State *L, int at) noexcept
    void lua_pushnil(lua_State *L) noexcept
    void lua_pushnumber(lua_State *L, double number) noexcept
    void lua_pushlstring(lua_State *L, const char *text, size_t size) noexcept
    void lua_pushcclosure(lua_State *L, lua_CFunction native, int upvalues) noexcept
    void lua_pushboolean(lua_State *L, int value) noexcept
    void lua_pushlightuserdata(lua_State *L, void *address) noexcept
    void lua_createtable(lua_State *L, int items, int fields) noexcept
    void *lua_newuserdata(lua_State *L, size_t size) noexcept
    void lua_rawget(lua_State *L, int at) noexcept
    void lua_rawset(lua_State *L, int at) noexcept
    void lua_rawgeti(lua_State *L, int at, int index) noexcept
    void lua_rawseti(lua_State *L, int at, int index) noexcept
    int lua_setmetatable(lua_State *L, int at) noexcept
    int lua_getmetatable(lua_State *L, int at) noexcept
    int lua_next(lua_State *L, int at) noexcept
    int lua_gc(lua_State *L, int what, int data) noexcept
    void luaL_where(lua_State *L, int level) noexcept
    int luaL_ref(lua_State *L, int table) noexcept
    void luaL_unref(lua_State *L, int table, int ref) noexcept

cdef enum:
    NIL = 0
    BOOLEAN = 1
    LIGHT_USERDATA = 2
    NUMBER = 3
    STRING = 4
    TABLE = 5
    FUNCTION = 6
    USERDATA = 7
    THREAD = 8
    REGISTRY = -10000
    GLOBALS = -10002
    BOUND = -10004
    END = -2


# ---------------------------------------------------------------------- interpreters

cdef inline lua_State *open_state(size_t limit) noexcept:
    return penstock_lua_open(limit)


cdef inline int close_state(lua_State *L) except -1:
    penstock_lua_close(L)
    return 0


cdef inline int open_libraries(lua_State *L) except -1:
    penstock_open_libraries(L)
    return 0


cdef inline size_t memory_used(lua_State *L) noexcept:
    return penstock_memory_of(L).used


cdef inline int set_memory_limit(lua_State *L, size_t limit) except -1:
    penstock_memory_of(L).limit = limit
    return 0


cdef inline size_t memory_limit(lua_State *L) noexcept:
    return penstock_memory_of(L).limit


cdef inline bint has_memory(lua_State *L, size_t more) noexcept:
    cdef penstock_lua_memory *memory = penstock_memory_of(L)
    return memory.used + more <= memory.limit


cdef inline int collect_garbage(lua_State *L) except -1:
    lua_gc(L, 2, 0)
    return 0


# ---------------------------------------------------------------------- the stack

cdef inline int top(lua_State *L) noexcept:
    return lua_gettop(L)


cdef inline int set_top(lua_State *L, int size) except -1:
    lua_settop(L, size)
    return 0


cdef inline int pop(lua_State *L, int values) except -1:
    lua_settop(L, -values - 1)
    return 0


cdef inline int push_value(lua_State *L, int at) except -1:
    lua_pushvalue(L, at)
    return 0


cdef inline int insert(lua_State *L, int at) except -1:
    lua_insert(L, at)
    return 0


cdef inline int remove(lua_State *L, int at) except -1:
    lua_remove(L, at)
    return 0


cdef inline int replace(lua_State *L, int at) except -1:
    lua_replace(L, at)
    return 0


cdef inline bint has_room(lua_State *L, int more) noexcept:
    return lua_checkstack(L, more)


# ---------------------------------------------------------------------- values on the stack

cdef inline int type_at(lua_State *L, int at) noexcept:
    return lua_type(L, at)


cdef inline bint is_number(lua_State *L, int at) noexcept:
    return lua_isnumber(L, at)


cdef inline double to_number(lua_State *L, int at) noexcept:
    return lua_tonumber(L, at)


cdef inline bint to_boolean(lua_State *L, int at) noexcept:
    return lua_toboolean(L, at)


cdef inline bytes to_bytes(lua_State *L, int at):
    cdef size_t size = 0
    cdef const char *text = lua_tolstring(L, at, &size)
    return PyBytes_FromStringAndSize(text, size)


cdef inline bint holds(lua_State *L, int at, bytes text) noexcept:
    cdef size_t size = 0
    cdef const char *held = lua_tolstring(L, at, &size)
    return (
        size == <size_t>PyBytes_GET_SIZE(text) and memcmp(held, PyBytes_AS_STRING(text), size) == 0
    )


cdef inline Py_ssize_t put_bulk(lua_State *L, int at, bytearray buffer, Py_ssize_t end) noexcept:
    cdef size_t size = 0
    cdef const char *text = lua_tolstring(L, at, &size)
    cdef char *start = PyByteArray_AS_STRING(buffer)
    return wire.write_bulk(start + end, text, size) - start


cdef inline size_t length(lua_State *L, int at) noexcept:
    return lua_objlen(L, at)


cdef inline size_t to_address(lua_State *L, int at) noexcept:
    return <size_t>lua_touserdata(L, at)


cdef inline int push_nil(lua_State *L) except -1:
    lua_pushnil(L)
    return 0


cdef inline int push_number(lua_State *L, double number) except -1:
    lua_pushnumber(L, number)
    return 0


cdef inline int push_boolean(lua_State *L, bint value) except -1:
    lua_pushboolean(L, value)
    return 0


cdef inline int push_bytes(lua_State *L, bytes text) except -1:
    lua_pushlstring(L, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return 0


cdef inline int push_slice(lua_State *L, bytes text, Py_ssize_t start, Py_ssize_t end) except -1:
    lua_pushlstring(L, PyBytes_AS_STRING(text) + start, end - start)
    return 0


cdef inline int push_address(lua_State *L, size_t address) except -1:
    lua_pushlightuserdata(L, <void *>address)
    return 0


cdef inline int push_native(lua_State *L, lua_CFunction native) except -1:
    penstock_push_native(L, native)
    return 0


cdef inline int push_native_with(lua_State *L, lua_CFunction native) except -1:
    penstock_push_native_with(L, native)
    return 0


cdef inline int bound_second(lua_State *L, int most) except -1:
    lua_pushnumber(L, most)
    lua_pushcclosure(L, penstock_bounded, 2)
    return 0


cdef inline int bound_place(lua_State *L, int least) except -1:
    lua_pushnumber(L, least)
    lua_pushcclosure(L, penstock_bounded_insert, 2)
    return 0


cdef inline int push_script_place(lua_State *L) except -1:
    penstock_push_script_place(L)
    return 0


cdef inline int push_place(lua_State *L) except -1:
    luaL_where(L, 1)
    return 0


cdef inline bytes called_as(lua_State *L):
    cdef int method
    cdef const char *name = penstock_called_as(L, &method)
    return b"?" if name == NULL else <bytes>name


cdef inline bint called_as_method(lua_State *L) noexcept:
    cdef int method
    penstock_called_as(L, &method)
    return method


# ---------------------------------------------------------------------- tables

cdef inline int create_table(lua_State *L, int items, int fields) except -1:
    lua_createtable(L, items, fields)
    return 0


cdef inline int raw_set(lua_State *L, int at) except -1:
    lua_rawset(L, at)
    return 0


cdef inline int get_index(lua_State *L, int at, int index) except -1:
    lua_rawgeti(L, at, index)
    return 0


cdef inline int set_index(lua_State *L, int at, int index) except -1:
    lua_rawseti(L, at, index)
    return 0


cdef inline int get_field(lua_State *L, int at, bytes name) except -1:
    cdef int table = at - 1 if -1000 < at < 0 else at
    lua_pushlstring(L, PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name))
    lua_rawget(L, table)
    return 0


cdef inline int set_field(lua_State *L, int at, bytes name) except -1:
    cdef int table = at - 1 if -1000 < at < 0 else at
    lua_pushlstring(L, PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name))
    lua_insert(L, -2)
    lua_rawset(L, table)
    return 0


cdef inline int set_metatable(lua_State *L, int at) except -1:
    lua_setmetatable(L, at)
    return 0


cdef inline bint push_metatable(lua_State *L, int at) noexcept:
    return lua_getmetatable(L, at)


cdef inline bint next_item(lua_State *L, int at) noexcept:
    return lua_next(L, at)


cdef inline int make_ref(lua_State *L) except -1:
    return luaL_ref(L, REGISTRY)


cdef inline int push_ref(lua_State *L, int ref) except -1:
    lua_rawgeti(L, REGISTRY, ref)
    return 0


cdef inline int free_ref(lua_State *L, int ref) except -1:
    luaL_unref(L, REGISTRY, ref)
    return 0


# ---------------------------------------------------------------------- running

cdef inline int load(lua_State *L, bytes source, bytes name) noexcept:
    return penstock_load(L, PyBytes_AS_STRING(source), PyBytes_GET_SIZE(source), PyBytes_AS_STRING(name))


cdef inline int call(lua_State *L, int arguments, int results, int handler) noexcept:
    return penstock_call(L, arguments, results, handler)


cdef inline int set_hook(lua_State *L, lua_CFunction counted, int count) except -1:
    penstock_set_hook(L, counted, count)
    return 0
