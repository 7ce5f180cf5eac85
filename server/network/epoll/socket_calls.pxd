# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.memoryview cimport PyMemoryView_GET_BUFFER
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport uint32_t

cdef extern from *:
    """
    #include <sys/epoll.h>
    #include <sys/socket.h>
    #include <sys/uio.h>
    #include <arpa/inet.h>
    #include <netinet/in.h>
    #include <string.h>
    #include <unistd.h>
    enum { PENSTOCK_AT_ONCE = 64 * 1024, PENSTOCK_MOST_READY = 1024, PENSTOCK_MOST_PIECES = 64 };
    static struct iovec penstock_pieces[PENSTOCK_MOST_PIECES];
    static inline void penstock_put_piece(int at, char *data, size_t size) {
        penstock_pieces[at].iov_base = data;
        penstock_pieces[at].iov_len = size;
    }
    static inline ssize_t penstock_send_pieces(int fd, int count) {
        struct msghdr message = { .msg_iov = penstock_pieces, .msg_iovlen = count };
        return sendmsg(fd, &message, MSG_NOSIGNAL);
    }
    static char penstock_arrived[PENSTOCK_AT_ONCE];
    static struct epoll_event penstock_ready[PENSTOCK_MOST_READY];
    static inline int penstock_watch(int epoll, int what, int fd, uint32_t events) {
        struct epoll_event event = { .events = events, .data.fd = fd };
        return epoll_ctl(epoll, what, fd, &event);
    }
    /* Write *number* in decimal at *to*; return the end. printf takes ten times as long. */
    static inline char *penstock_put_decimal(char *to, unsigned number) {
        char digits[10];
        int count = 0;
        do {
            digits[count++] = '0' + number % 10;
            number /= 10;
        } while (number);
        while (count)
            *to++ = digits[--count];
        return to;
    }
    static inline void penstock_put_port(char *to, in_port_t port) {
        *to++ = ':';
        *penstock_put_decimal(to, ntohs(port)) = 0;
    }
    static inline void penstock_put_ipv4(char *to, struct sockaddr_in *in) {
        unsigned char *octets = (unsigned char *)&in->sin_addr;
        for (int at = 0; at < 4; at++) {
            if (at)
                *to++ = '.';
            to = penstock_put_decimal(to, octets[at]);
        }
        penstock_put_port(to, in->sin_port);
    }
    static inline void penstock_put_ipv6(char *to, struct sockaddr_in6 *in) {
        *to++ = '[';
        inet_ntop(AF_INET6, &in->sin6_addr, to, INET6_ADDRSTRLEN);
        to += strlen(to);
        *to++ = ']';
        penstock_put_port(to, in->sin6_port);
    }
    /* Accept a client. Its address, "" on a unix socket, is in *name* afterwards. */
    static inline int penstock_accept(int listening, char *name) {
        struct sockaddr_storage peer;
        socklen_t size = sizeof(peer);
        int fd = accept4(listening, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        name[0] = 0;
        if (fd < 0)
            return fd;
        if (peer.ss_family == AF_INET)
            penstock_put_ipv4(name, (struct sockaddr_in *)&peer);
        else if (peer.ss_family == AF_INET6)
            penstock_put_ipv6(name, (struct sockaddr_in6 *)&peer);
        return fd;
    }
    #define penstock_ready_fd(at) (penstock_ready[at].data.fd)
    #define penstock_ready_events(at) (penstock_ready[at].events)
    #define penstock_find_ready(epoll, ms) epoll_wait(epoll, penstock_ready, PENSTOCK_MOST_READY, ms)
    """
    const int AT_ONCE "PENSTOCK_AT_ONCE"
    int c_accept "penstock_accept" (int listening, char *name) nogil
    char *arrived "penstock_arrived"
    const int EPOLL_CTL_ADD
    const int EPOLL_CTL_MOD
    const int EPOLL_CTL_DEL
    int c_watch "penstock_watch" (int epoll, int what, int fd, uint32_t events) nogil
    int c_find_ready "penstock_find_ready" (int epoll, int ms) nogil
    int c_ready_fd "penstock_ready_fd" (int at) nogil
    uint32_t c_ready_events "penstock_ready_events" (int at) nogil
    const int MOST_PIECES "PENSTOCK_MOST_PIECES"
    void put_piece "penstock_put_piece" (int at, char *data, size_t size) nogil
    Py_ssize_t c_send_pieces "penstock_send_pieces" (int fd, int count) nogil
    const int MSG_NOSIGNAL
    int c_close "close" (int fd) nogil
    Py_ssize_t c_recv "recv" (int fd, void *buffer, size_t size, int flags) nogil
    Py_ssize_t c_send "send" (int fd, const void *data, size_t size, int flags) nogil


cdef inline tuple accept(int listening):
    cdef char[64] name
    cdef int fd = c_accept(listening, name)
    while fd < 0 and not in_vain():
        fd = c_accept(listening, name)
    return (fd, name.decode("ascii")) if fd >= 0 else None


cdef inline close(int fd):
    if c_close(fd) < 0 and errno != EINTR:
        PyErr_SetFromErrno(OSError)


cdef inline int find_ready(object epoll, int fd, int ms) except -1:
    cdef int count
    if ms:
        with nogil:
            count = c_find_ready(fd, ms)
    else:
        count = c_find_ready(fd, 0)
    if count < 0:
        in_vain()
        return 0
    return count


cdef inline int ready_fd(int at) noexcept:
    return c_ready_fd(at)


cdef inline uint32_t ready_events(int at) noexcept:
    return c_ready_events(at)


cdef inline watch(object epoll, int own_fd, int fd, uint32_t events):
    if c_watch(own_fd, EPOLL_CTL_ADD, fd, events) < 0:
        PyErr_SetFromErrno(OSError)


cdef inline expect(object epoll, int own_fd, int fd, uint32_t events):
    if c_watch(own_fd, EPOLL_CTL_MOD, fd, events) < 0:
        PyErr_SetFromErrno(OSError)


cdef inline forget(object epoll, int own_fd, int fd):
    if c_watch(own_fd, EPOLL_CTL_DEL, fd, 0) < 0:
        PyErr_SetFromErrno(OSError)


cdef inline bytes receive(int fd):
    cdef Py_ssize_t size = c_recv(fd, arrived, AT_ONCE, 0)
    while size < 0 and not in_vain():
        size = c_recv(fd, arrived, AT_ONCE, 0)
    return PyBytes_FromStringAndSize(arrived, size) if size >= 0 else None


cdef inline Py_ssize_t receive_into(int fd, object buffer) except -2:
    cdef Py_buffer *view = PyMemoryView_GET_BUFFER(buffer)
    cdef Py_ssize_t size = c_recv(fd, view.buf, view.len, 0)
    while size < 0 and not in_vain():
        size = c_recv(fd, view.buf, view.len, 0)
    return max(size, -1)


cdef inline Py_ssize_t send(int fd, bytearray data, Py_ssize_t size) except -1:
    cdef Py_ssize_t taken = c_send(fd, PyByteArray_AS_STRING(data), size, MSG_NOSIGNAL)
    while taken < 0 and not in_vain():
        taken = c_send(fd, PyByteArray_AS_STRING(data), size, MSG_NOSIGNAL)
    return max(taken, 0)


cdef inline Py_ssize_t send_pieces(
    int fd, list pieces, Py_ssize_t first, Py_ssize_t start
) except -1:
    cdef int count = 0
    cdef Py_ssize_t taken
    cdef object piece
    while count < MOST_PIECES and first < len(pieces):
        piece = pieces[first]
        if type(piece) is bytes:
            put_piece(count, PyBytes_AS_STRING(piece) + start, PyBytes_GET_SIZE(piece) - start)
        else:
            put_piece(
                count, PyByteArray_AS_STRING(piece) + start, PyByteArray_GET_SIZE(piece) - start
            )
        start = 0
        count += 1
        first += 1
    taken = c_send_pieces(fd, count)
    while taken < 0 and not in_vain():
        taken = c_send_pieces(fd, count)
    return max(taken, 0)


# After a call that failed: whether to leave it at that for now, or to call again.
cdef inline bint in_vain() except -1:
    if errno == EAGAIN:
        return True
    if errno != EINTR:
        PyErr_SetFromErrno(OSError)
    PyErr_CheckSignals()
    return False
