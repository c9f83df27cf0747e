// Tells ThreadSanitizer of the waiting in Synchronization.Mutex.
//
// A Mutex that is free is taken by an atomic operation in our own code, which the sanitizer sees. One that is held is waited for
// inside of libswiftSynchronization, with a futex, which it does not see: what the lock protects then looks like a race.
// Preloaded, this library stands in front of those two functions and notes that a lock was taken and let go of. It hides
// nothing: what no lock protects is still reported. Needs the toolchain's clang, for Swift's calling convention.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Weak: programs that the tests start inherit the preloading, and are not instrumented.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, __attribute__((swift_context)) void *handle);
typedef __attribute__((swiftcall)) void unlock_function(__attribute__((swift_context)) void *handle);

static lock_function *lock;
static unlock_function *unlock;

__attribute__((constructor)) static void look_up(void) {
    lock = (lock_function *)dlsym(RTLD_NEXT, LOCK);
    unlock = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
}

__attribute__((swiftcall)) void noted_lock(uint32_t thread, __attribute__((swift_context)) void *handle) __asm__(LOCK);
__attribute__((swiftcall)) void noted_unlock(__attribute__((swift_context)) void *handle) __asm__(UNLOCK);

__attribute__((swiftcall)) void noted_lock(uint32_t thread, __attribute__((swift_context)) void *handle) {
    lock(thread, handle);
    if (__tsan_acquire) { __tsan_acquire(handle); }
}

__attribute__((swiftcall)) void noted_unlock(__attribute__((swift_context)) void *handle) {
    if (__tsan_release) { __tsan_release(handle); }
    unlock(handle);
}
