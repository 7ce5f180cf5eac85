cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol cimport wire
from protocol.encoder cimport Encoder
from protocol.long_word cimport LongWord

cdef int64_t MAX_ARGS
cdef Py_ssize_t MAX_BULK
cdef Py_ssize_t MAX_LINE
cdef Py_ssize_t MAX_BUFFERED
cdef int64_t MAX_ARGS_UNAUTHENTICATED
cdef int64_t MAX_BULK_UNAUTHENTICATED
cdef Py_ssize_t MAX_BUFFERED_UNAUTHENTICATED
cdef Py_ssize_t WORD_COST
cdef Py_ssize_t FIRST_WORDS
cdef Py_ssize_t LONGEST_FIRST_WORD
cdef Py_ssize_t LEAST_WORD
cdef Py_ssize_t FEW_WORDS
cdef Py_ssize_t LONG_WORD
cdef Py_ssize_t EMPTY_TAIL
cdef int CR
cdef int LF
cdef int NUL
cdef int STAR
cdef int DOLLAR
cdef list NO_WORDS
cdef list _first_words

@cython.locals(end=Py_ssize_t, ends=Py_ssize_t)
cdef Py_ssize_t _place_of(bytes data, Py_ssize_t at, Py_ssize_t length) noexcept
@cython.locals(place=Py_ssize_t, word=bytes)
cdef bytes _first_word(bytes data, Py_ssize_t at, Py_ssize_t length)


@cython.final
cdef class RequestParser:
    cdef public Py_ssize_t max_bulk
    cdef public Py_ssize_t max_buffered
    cdef public bint authenticated
    cdef readonly uint64_t taken
    cdef bytes _data
    cdef Py_ssize_t _size
    cdef Py_ssize_t _at
    cdef bytearray _tail
    cdef Py_ssize_t _tail_size
    cdef list _last
    cdef list _ahead
    cdef Py_ssize_t _ahead_at
    cdef Py_ssize_t _ahead_place
    cdef list _argv
    cdef Py_ssize_t _held
    cdef Py_ssize_t _missing
    cdef Py_ssize_t _bulk
    cdef LongWord _long_word
    cdef bint _dead

    @cython.locals(start=Py_ssize_t)
    cpdef feed(self, bytes data)
    cpdef bint wants_buffer(self) noexcept
    cpdef get_buffer(self)
    cpdef buffer_updated(self, Py_ssize_t size)
    cpdef bint has_more(self) noexcept
    cpdef let_go(self)
    @cython.locals(argv=list)
    cpdef list take(self)
    @cython.locals(held=Py_ssize_t)
    cpdef Py_ssize_t buffered(self) except -1
    @cython.locals(kept=Py_ssize_t)
    cpdef Py_ssize_t kept(self) except -1
    @cython.locals(room=Py_ssize_t)
    cpdef Py_ssize_t room(self) except -1
    cpdef Py_ssize_t words_size(self) except -1
    cpdef Py_ssize_t unparsed(self) noexcept
    @cython.locals(held=Py_ssize_t)
    cpdef bint overfull(self, Py_ssize_t beside=*) except -1
    @cython.locals(
        data=bytes, at=Py_ssize_t, size=Py_ssize_t, last=list, count=int64_t, length=int64_t,
        argv=list, index=Py_ssize_t, ahead_place=Py_ssize_t,
    )
    cdef list _take_plain(self)
    @cython.locals(word=bytes)
    cdef bytes _word_ahead(self, bytes data, Py_ssize_t at, Py_ssize_t length)
    @cython.locals(data=bytes, at=Py_ssize_t, count=int64_t, length=int64_t)
    cpdef bytes next_name(self)
    @cython.locals(
        data=bytes, at=Py_ssize_t, last=bytes, words=list, count=int64_t, length=int64_t,
        start=Py_ssize_t,
    )
    cpdef list look_ahead(self, Py_ssize_t most, Py_ssize_t place)
    cdef bint _is_plain(self) noexcept
    @cython.locals(head=bytes, start=Py_ssize_t, moved=Py_ssize_t, end=Py_ssize_t)
    cpdef Py_ssize_t move_alike(self, list argv, Encoder out) except -1
    @cython.locals(data=bytes, size=Py_ssize_t, length=int64_t)
    cdef Py_ssize_t _end_of_words(self, Py_ssize_t at, Py_ssize_t count) noexcept
    @cython.locals(words=list)
    cdef list _take_any(self)
    @cython.locals(argv=list)
    cdef list _take_multibulk(self)
    @cython.locals(end=Py_ssize_t, word=bytes, long_word=LongWord)
    cdef bytes _take_word(self)
    @cython.locals(word=bytes)
    cdef bytes _take_long_word(self)
    @cython.locals(size=Py_ssize_t, count=int64_t)
    cdef bint _take_count(self) except -1
    @cython.locals(size=Py_ssize_t, length=int64_t)
    cdef bint _take_length(self) except -1
    @cython.locals(size=Py_ssize_t, line=bytes)
    cdef list _take_inline(self)
    cdef int _keep(self, bytes data, Py_ssize_t at) noexcept
    @cython.locals(present=Py_ssize_t)
    cdef bint _have(self, Py_ssize_t needed) except -1
    @cython.locals(end=Py_ssize_t, size=Py_ssize_t, present=Py_ssize_t)
    cdef Py_ssize_t _line_size(
        self, int ending, Py_ssize_t ending_size, str too_long
    ) except? -2
