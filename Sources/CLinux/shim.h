// What Swift's Glibc module leaves out, or cannot import: epoll, eventfd, accept4, memmem, F_* constants.
#ifndef SHELVMPD_CLINUX_H
#define SHELVMPD_CLINUX_H

// No _GNU_SOURCE: with it the C library's structs differ from those of Swift's Glibc module, and a file that imports
// both does not compile. GNU functions are declared below instead.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern void *memmem(const void *, size_t, const void *, size_t);
extern int pthread_setname_np(pthread_t, const char *);
// Not <poll.h>: several modules would hold its struct, and Swift takes that of whichever it reads first.
struct pollfd;
extern int poll(struct pollfd *, unsigned long, int);
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);

static inline int shelv_accept_nonblocking(int fd) {
    return accept4(fd, (struct sockaddr *)0, (socklen_t *)0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline const void *shelv_memmem(const void *haystack, size_t length, const void *needle, size_t needle_length) {
    return memmem(haystack, length, needle, needle_length);
}

// Waits until a descriptor can be read or has ended; 0 when the time is over, below 0 with errno.
static inline int shelv_wait_readable(int fd, int milliseconds) {
    struct { int fd; short events, revents; } entry = {fd, 1 /* POLLIN */, 0};
    return poll((struct pollfd *)&entry, 1, milliseconds);
}

// Names the calling thread, in at most 15 bytes, for `ps` and debuggers.
static inline void shelv_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

// Tells the processor what will be read soon; never faults.
static inline void shelv_prefetch(const void *address) { __builtin_prefetch(address); }

// Memory that a descriptor names; hidden without _GNU_SOURCE, as above.
extern int memfd_create(const char *, unsigned int);
static inline int shelv_memory_file(const char *name) { return memfd_create(name, 1 /* MFD_CLOEXEC */); }

// Nanoseconds of the monotonic clock, and a condition that waits by it. (timespec is two modules' type in Swift.)
static inline uint64_t shelv_monotonic_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Unix time in milliseconds.
static inline int64_t shelv_wall_milliseconds(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int shelv_cond_init_monotonic(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int code = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return code;
}

static inline int shelv_cond_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t monotonic) {
    struct timespec time = {(time_t)(monotonic / 1000000000u), (long)(monotonic % 1000000000u)};
    return pthread_cond_timedwait(condition, mutex, &time);
}

static inline int shelv_sem_wait_until(sem_t *semaphore, uint64_t monotonic) {
    struct timespec time = {(time_t)(monotonic / 1000000000u), (long)(monotonic % 1000000000u)};
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
}

// Milliseconds that go on when the machine sleeps, and when somebody sets the clock.
static inline int64_t shelv_boot_milliseconds(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// The system's log; syslog() is variadic.
static inline void shelv_open_syslog(void) { openlog("shelvmpd", LOG_PID, LOG_DAEMON); }
static inline void shelv_syslog(int priority, const char *text) { syslog(priority, "%s", text); }

// open() and fcntl() are variadic and so not imported.
static inline int shelv_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static inline int shelv_fcntl(int fd, int command, long argument) { return fcntl(fd, command, argument); }

// open() with O_CREAT, which makes folders that are missing, for this user alone: whoever cleans up caches may have
// removed them. What is missing in the root is never made: a disk that is not there is no folder. The path must be absolute.
static inline int shelv_create(const char *path, int flags, mode_t mode) {
    int fd = open(path, flags | O_CREAT, mode);
    if (fd >= 0 || errno != ENOENT) return fd;
    char folder[PATH_MAX];
    size_t length = strlen(path);
    if (length < 2 || length >= sizeof folder) return fd;
    memcpy(folder, path, length + 1);
    char *top = strchr(folder + 1, '/');
    if (!top) return fd;
    *top = 0;
    int isThere = access(folder, F_OK) == 0;
    *top = '/';
    if (!isThere) {
        errno = ENOENT;
        return -1;
    }
    for (char *slash = top + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) return -1;
        *slash = '/';
    }
    return open(path, flags | O_CREAT, mode);
}

#endif
