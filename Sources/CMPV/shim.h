#ifndef SHELVMPD_CMPV_H
#define SHELVMPD_CMPV_H
#include <dlfcn.h>
#include <mpv/client.h>
#include <mpv/stream_cb.h>
#include <stdlib.h>

typedef void (*shelv_alsa_handler)(const char *, int, const char *, int, const char *, ...);

static inline void shelv_alsa_ignore(const char *file, int line, const char *function, int code, const char *format,
                                     ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

// ALSA and PipeWire write to standard error by themselves where there is no sound; libmpv tells the same in its log.
// A user who wants PipeWire's words sets the variable.
static inline void shelv_silence_audio_libraries(void) {
    int (*set)(shelv_alsa_handler) = (int (*)(shelv_alsa_handler))dlsym((void *)0, "snd_lib_error_set_handler");
    if (set) set(shelv_alsa_ignore);
    setenv("PIPEWIRE_DEBUG", "0", 0);
}
#endif
