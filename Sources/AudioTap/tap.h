// What the tap (libshelvtap.so) and the player tell each other. Both run in one process: libmpv loads the library
// as a LADSPA plugin of its filter chain, the player opens the same file by dlopen and so reaches the same globals.
#ifndef SHELVMPD_TAP_H
#define SHELVMPD_TAP_H
#include <stdint.h>

// Grows with every incompatible change of this file; shelv_tap_version() tells what the library was built with.
#define SHELV_TAP_VERSION 1

// Most channels that one filter may have.
#define SHELV_TAP_CHANNELS 32

// One block of samples, lent until return. `load` is the value of the filter's control "c1".
typedef void (*shelv_tap_write)(void *context, uint32_t load, uint32_t rate, uint32_t channels,
                                const float *const *planes, uint32_t frames);

// The library's functions, by the names of their fields with "shelv_tap_" before them.
typedef struct shelv_tap_functions {
    uint32_t (*version)(void);
    // Gives out a slot number for the filter's control "c0", or -1 when all are taken.
    int32_t (*attach)(void *context, shelv_tap_write write);
    // Returns when no call of `write` is under way any more.
    void (*detach)(int32_t slot);
} shelv_tap_functions;

#endif
