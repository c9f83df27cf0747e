// A LADSPA plugin that hands the samples of libmpv's filter chain to the player and passes them on unchanged.
//
// It has one audio input and one output: FFmpeg's "ladspa" filter then takes any number of channels as they are and
// makes one instance for each of them. Instances of one filter share the addresses of their control values; by that
// they find together, so that the player gets all channels of a block at once.
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The part of LADSPA's binary interface, version 1.1, that a plugin needs.

typedef void *ladspa_handle;

typedef struct {
    int hint;
    float lower, upper;
} ladspa_range_hint;

typedef struct ladspa_plugin {
    unsigned long unique_id;
    const char *label;
    int properties;
    const char *name, *maker, *copyright;
    unsigned long port_count;
    const int *port_kinds;
    const char *const *port_names;
    const ladspa_range_hint *port_hints;
    void *data;
    ladspa_handle (*instantiate)(const struct ladspa_plugin *, unsigned long rate);
    void (*connect_port)(ladspa_handle, unsigned long port, float *);
    void (*activate)(ladspa_handle);
    void (*run)(ladspa_handle, unsigned long frames);
    void (*run_adding)(ladspa_handle, unsigned long frames);
    void (*set_gain)(ladspa_handle, float);
    void (*deactivate)(ladspa_handle);
    void (*cleanup)(ladspa_handle);
} ladspa_plugin;

enum { port_input = 1, port_output = 2, port_control = 4, port_audio = 8 };
enum { property_none = 0 };
enum { slot_port, load_port, input_port, output_port, port_total };

#define EXPORT __attribute__((visibility("default")))

// Who listens to a slot. Calls of `write` are counted, so that `detach` can wait for their end; the lock is not held
// meanwhile, because one filter's call may wait for what another filter brings.
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int taken;
    unsigned calls;
    void *context;
    shelv_tap_write write;
} sink;

enum { sink_count = 64 };
static sink sinks[sink_count];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// All channels of one filter.
typedef struct group {
    struct group *next;
    const float *slot;
    uint32_t rate;
    uint32_t members;
    uint32_t channels;
    const float *planes[SHELV_TAP_CHANNELS];
} group;

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;
static group *groups;

// One channel.
typedef struct {
    uint32_t rate;
    uint32_t channel;
    group *group;
    const float *load;
    float *input, *output;
} instance;

static void make_locks(void) {
    for (int i = 0; i < sink_count; i++) {
        pthread_mutex_init(&sinks[i].lock, NULL);
        pthread_cond_init(&sinks[i].left, NULL);
    }
}

EXPORT uint32_t shelv_tap_version(void) { return SHELV_TAP_VERSION; }

EXPORT int32_t shelv_tap_attach(void *context, shelv_tap_write write) {
    pthread_once(&once, make_locks);
    for (int32_t i = 0; i < sink_count; i++) {
        sink *s = &sinks[i];
        pthread_mutex_lock(&s->lock);
        int isFree = !s->taken;
        if (isFree) {
            s->taken = 1;
            s->context = context;
            s->write = write;
        }
        pthread_mutex_unlock(&s->lock);
        if (isFree) return i;
    }
    return -1;
}

EXPORT void shelv_tap_detach(int32_t slot) {
    if (slot < 0 || slot >= sink_count) return;
    sink *s = &sinks[slot];
    pthread_mutex_lock(&s->lock);
    s->write = NULL;
    while (s->calls > 0) pthread_cond_wait(&s->left, &s->lock);
    s->taken = 0;
    pthread_mutex_unlock(&s->lock);
}

static void leave(instance *self) {
    group *old = self->group;
    if (!old) return;
    self->group = NULL;
    pthread_mutex_lock(&groups_lock);
    if (--old->members == 0) {
        for (group **link = &groups; *link; link = &(*link)->next) {
            if (*link == old) {
                *link = old->next;
                break;
            }
        }
        free(old);
    }
    pthread_mutex_unlock(&groups_lock);
}

static void join(instance *self, const float *slot) {
    leave(self);
    if (!slot) return;
    pthread_mutex_lock(&groups_lock);
    group *g = groups;
    while (g && g->slot != slot) g = g->next;
    if (!g && (g = calloc(1, sizeof *g))) {
        g->slot = slot;
        g->rate = self->rate;
        g->next = groups;
        groups = g;
    }
    if (g && g->channels < SHELV_TAP_CHANNELS) {
        self->group = g;
        self->channel = g->channels++;
        g->members++;
    }
    pthread_mutex_unlock(&groups_lock);
}

static ladspa_handle instantiate(const ladspa_plugin *plugin, unsigned long rate) {
    (void)plugin;
    pthread_once(&once, make_locks);
    instance *self = calloc(1, sizeof *self);
    if (self) self->rate = (uint32_t)rate;
    return self;
}

static void connect_port(ladspa_handle handle, unsigned long port, float *data) {
    instance *self = handle;
    switch (port) {
    case slot_port: join(self, data); break;
    case load_port: self->load = data; break;
    case input_port: self->input = data; break;
    case output_port: self->output = data; break;
    }
}

static void run(ladspa_handle handle, unsigned long frames) {
    instance *self = handle;
    if (!self->input || !self->output) return;
    if (self->output != self->input) memcpy(self->output, self->input, frames * sizeof(float));
    group *g = self->group;
    if (!g) return;
    // The output stays in place until the block is passed on; the input might be reused by the next channel.
    g->planes[self->channel] = self->output;
    if (self->channel + 1 < g->channels) return;
    float slot = *g->slot, load = self->load ? *self->load : 0;
    if (!(slot >= 0 && slot < sink_count && load >= 0 && load <= 0x1000000)) return;
    sink *s = &sinks[(int)slot];
    pthread_mutex_lock(&s->lock);
    void *context = s->context;
    shelv_tap_write write = s->write;
    if (write) s->calls++;
    pthread_mutex_unlock(&s->lock);
    if (!write) return;
    write(context, (uint32_t)load, g->rate, g->channels, g->planes, (uint32_t)frames);
    pthread_mutex_lock(&s->lock);
    if (--s->calls == 0) pthread_cond_broadcast(&s->left);
    pthread_mutex_unlock(&s->lock);
}

static void cleanup(ladspa_handle handle) {
    leave(handle);
    free(handle);
}

static const int port_kinds[port_total] = {
    [slot_port] = port_input | port_control,
    [load_port] = port_input | port_control,
    [input_port] = port_input | port_audio,
    [output_port] = port_output | port_audio,
};
static const char *const port_names[port_total] = {"Slot", "Load", "Input", "Output"};
static const ladspa_range_hint port_hints[port_total];

static const ladspa_plugin plugin = {
    .unique_id = 0,
    .label = "tap",
    .properties = property_none,
    .name = "ShelvMPD tap",
    .maker = "ShelvMPD",
    .copyright = "MIT",
    .port_count = port_total,
    .port_kinds = port_kinds,
    .port_names = port_names,
    .port_hints = port_hints,
    .instantiate = instantiate,
    .connect_port = connect_port,
    .run = run,
    .cleanup = cleanup,
};

EXPORT const ladspa_plugin *ladspa_descriptor(unsigned long index) { return index == 0 ? &plugin : NULL; }
