# inline only

# What runs after a fatal signal calls only what is safe there (signal-safety(7)): no memory is
# allocated, no lock is taken, Python does not run. backtrace() is loaded when the handler is
# installed. Should the report hang nevertheless, SIGALRM ends the process by the first signal; a
# signal during it does so at once.
cdef extern from *:
    """
    #ifndef PENSTOCK_CRASH
    #define PENSTOCK_CRASH
    #include <fcntl.h>
    #include <poll.h>
    #include <signal.h>
    #include <string.h>
    #include <ucontext.h>
    #include <unistd.h>
    #ifdef __GLIBC__
    #include <execinfo.h>
    #endif
    #define PENSTOCK_CRASH_SECONDS 10
    #define PENSTOCK_CRASH_FRAMES 100

    typedef void (*WriteCommands)(int fd);
    static const int penstock_crash_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    #define PENSTOCK_CRASH_SIGNALS 5
    static struct sigaction penstock_crash_before[PENSTOCK_CRASH_SIGNALS];
    static int penstock_crash_is_on = 0;
    static volatile sig_atomic_t penstock_crash_signal = 0;
    static char penstock_crash_path[4096];
    static char penstock_crash_head[1024];
    static char penstock_crash_end_line[256];
    static int penstock_crash_python_fd = -1;
    static WriteCommands penstock_crash_commands = NULL;

    /* A pipe that nobody reads takes nothing: what it would wait for is lost. */
    static void penstock_crash_put(int fd, const char *text, size_t size) {
        struct pollfd one = {fd, POLLOUT, 0};
        if (poll(&one, 1, 1000) > 0 && write(fd, text, size) < 0)
            return;
    }
    static void penstock_crash_text(int fd, const char *text) {
        penstock_crash_put(fd, text, strlen(text));
    }
    static void penstock_crash_number(int fd, unsigned long long number, unsigned base) {
        char digits[24];
        int at = sizeof digits;
        do {
            digits[--at] = "0123456789abcdef"[number % base];
            number /= base;
        } while (number);
        penstock_crash_put(fd, digits + at, sizeof digits - at);
    }
    static void penstock_crash_end(int number) {
        sigset_t only;
        signal(number, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, number);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        kill(getpid(), number);
        _exit(128 + number);
    }
    static void penstock_crash_hangs(int number) {
        (void)number;
        penstock_crash_end(penstock_crash_signal);
    }
    static int penstock_crash_file(void) {
        int fd = -1;
        if (penstock_crash_path[0])
            fd = open(penstock_crash_path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY,
                      0644);
        return fd < 0 ? STDERR_FILENO : fd;
    }
    /* First where it has crashed, then how it got there. */
    static void penstock_crash_stack(int fd, void *context) {
    #ifdef __GLIBC__
        void *at = NULL;
    #if defined(__x86_64__)  /* glibc's REG_RIP has this number, and is not always declared */
        at = (void *)((ucontext_t *)context)->uc_mcontext.gregs[16];
    #elif defined(__aarch64__)
        at = (void *)((ucontext_t *)context)->uc_mcontext.pc;
    #endif
        if (at != NULL)
            backtrace_symbols_fd(&at, 1, fd);
        static void *frames[PENSTOCK_CRASH_FRAMES];
        int count = backtrace(frames, PENSTOCK_CRASH_FRAMES);
        backtrace_symbols_fd(frames, count, fd);
    #endif
    }
    /* The traceback of Python is faulthandler's own: its handler was there before. */
    static void penstock_crash_python(int fd, int number) {
        for (int at = 0; at < PENSTOCK_CRASH_SIGNALS; at++) {
            struct sigaction *before = &penstock_crash_before[at];
            if (penstock_crash_signals[at] != number)
                continue;
            if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)
                continue;
            if (penstock_crash_python_fd >= 0)
                dup2(fd, penstock_crash_python_fd);
            before->sa_handler(number);
        }
    }
    static void penstock_crashed(int number, siginfo_t *info, void *context) {
        sigset_t alarm_only;
        int fd;
        if (penstock_crash_signal)
            penstock_crash_end(number);
        penstock_crash_signal = number;
        signal(SIGALRM, penstock_crash_hangs);
        sigemptyset(&alarm_only);
        sigaddset(&alarm_only, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
        alarm(PENSTOCK_CRASH_SECONDS);
        fd = penstock_crash_file();
        penstock_crash_text(fd, penstock_crash_head);
        penstock_crash_text(fd, " crashed by signal: ");
        penstock_crash_number(fd, (unsigned)number, 10);
        penstock_crash_text(fd, ", si_code: ");
        if (info->si_code < 0)
            penstock_crash_text(fd, "-");
        penstock_crash_number(fd, info->si_code < 0 ? -info->si_code : info->si_code, 10);
        penstock_crash_text(fd, ", pid: ");
        penstock_crash_number(fd, (unsigned)getpid(), 10);
        if (info->si_code > 0) {
            penstock_crash_text(fd, "\\nAccessing address: 0x");
            penstock_crash_number(fd, (unsigned long long)(size_t)info->si_addr, 16);
        }
        penstock_crash_text(fd, "\\n\\n------ STACK TRACE ------\\n");
        penstock_crash_stack(fd, context);
        penstock_crash_text(fd, "\\n------ PYTHON STACK TRACE ------\\n");
        penstock_crash_python(fd, number);
        penstock_crash_text(fd, "\\n------ LAST COMMANDS ------\\n");
        if (penstock_crash_commands != NULL)
            penstock_crash_commands(fd);
        penstock_crash_text(fd, penstock_crash_end_line);
        penstock_crash_end(number);
    }
    static void penstock_crash_copy(char *to, const char *text, size_t room) {
        strncpy(to, text, room - 1);
        to[room - 1] = 0;
    }
    static void penstock_crash_install(const char *path, const char *head, const char *end_line,
                                       int python_fd, WriteCommands commands) {
        static char stack[128 * 1024];
        stack_t own = {0};
        struct sigaction action;
        void *frame[1];
        if (penstock_crash_is_on)
            return;
        penstock_crash_copy(penstock_crash_path, path, sizeof penstock_crash_path);
        penstock_crash_copy(penstock_crash_head, head, sizeof penstock_crash_head);
        penstock_crash_copy(penstock_crash_end_line, end_line, sizeof penstock_crash_end_line);
        penstock_crash_python_fd = python_fd;
        penstock_crash_commands = commands;
    #ifdef __GLIBC__
        backtrace(frame, 1);
    #endif
        own.ss_sp = stack;
        own.ss_size = sizeof stack;
        sigaltstack(&own, NULL);
        memset(&action, 0, sizeof action);
        action.sa_sigaction = penstock_crashed;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        for (int at = 0; at < PENSTOCK_CRASH_SIGNALS; at++)
            sigaction(penstock_crash_signals[at], &action, &penstock_crash_before[at]);
        penstock_crash_is_on = 1;
    }
    static void penstock_crash_remove(void) {
        if (!penstock_crash_is_on)
            return;
        for (int at = 0; at < PENSTOCK_CRASH_SIGNALS; at++)
            sigaction(penstock_crash_signals[at], &penstock_crash_before[at], NULL);
        penstock_crash_is_on = 0;
    }
    #endif
    """
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    void *PyUnicode_DATA(object text)
    ctypedef void (*WriteCommands)(int fd) noexcept
    void c_put "penstock_crash_put" (int fd, const char *text, size_t size)
    void c_number "penstock_crash_number" (int fd, unsigned long long number, unsigned int base)
    void c_install "penstock_crash_install" (
        const char *path, const char *head, const char *end_line, int python_fd,
        WriteCommands commands)
    void c_remove "penstock_crash_remove" ()


cdef inline void install(
    bytes path, bytes head, bytes end_line, int python_fd, WriteCommands write_commands
) noexcept:
    c_install(path, head, end_line, python_fd, write_commands)


cdef inline void remove() noexcept:
    c_remove()


cdef inline void put(int fd, str text) noexcept:
    # ASCII, as the names of commands are, lies in the string as it is.
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_COMPACT_ASCII(text):
        c_put(fd, <const char *>PyUnicode_DATA(text), size)


cdef inline void put_number(int fd, unsigned long long number) noexcept:
    c_number(fd, number, 10)
