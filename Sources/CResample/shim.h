// FFmpeg's resampler, which libmpv brings along. The wrappers hide its structs, which differ between versions.
#ifndef SHELVMPD_CRESAMPLE_H
#define SHELVMPD_CRESAMPLE_H
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <stdint.h>

// Planar float in, interleaved float out, in the usual layouts of that many channels. NULL when refused.
static inline void *shelv_resample_open(int from_rate, int from_channels, int to_rate, int to_channels) {
    AVChannelLayout from, to;
    av_channel_layout_default(&from, from_channels);
    av_channel_layout_default(&to, to_channels);
    SwrContext *context = NULL;
    int code = swr_alloc_set_opts2(&context, &to, AV_SAMPLE_FMT_FLT, to_rate, &from, AV_SAMPLE_FMT_FLTP, from_rate, 0,
                                   NULL);
    av_channel_layout_uninit(&from);
    av_channel_layout_uninit(&to);
    if (code >= 0 && swr_init(context) >= 0) return context;
    swr_free(&context);
    return NULL;
}

static inline void shelv_resample_close(void *context) {
    SwrContext *swr = (SwrContext *)context;
    swr_free(&swr);
}

// How many frames at most come out for `frames` going in now.
static inline int shelv_resample_bound(void *context, int frames) {
    return swr_get_out_samples((SwrContext *)context, frames);
}

// Takes `frames` frames (NULL planes at the end: gives out what is left). Returns the number of frames written, or < 0.
static inline int shelv_resample_run(void *context, float *out, int room, const float *const *planes, int frames) {
    uint8_t *outs[1] = {(uint8_t *)out};
    return swr_convert((SwrContext *)context, outs, room, (const uint8_t **)planes, frames);
}
#endif
