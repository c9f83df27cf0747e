// FFmpeg's encoders and containers, which libmpv brings along. The wrappers hide their structs, which differ between
// versions.
#ifndef SHELVMPD_CENCODE_H
#define SHELVMPD_CENCODE_H
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <stdint.h>
#include <stdlib.h>

// Takes encoded bytes, which are lent until return.
typedef void (*shelv_encoded)(void *context, const uint8_t *bytes, int count);

typedef struct {
    AVCodecContext *codec;
    AVFormatContext *mux;
    SwrContext *convert;
    AVFrame *frame;
    AVPacket *packet;
    int64_t position;
    void *context;
    shelv_encoded write;
} shelv_encoder;

static int shelv_encoder_bytes(void *opaque, uint8_t *bytes, int count) {
    shelv_encoder *self = (shelv_encoder *)opaque;
    self->write(self->context, bytes, count);
    return count;
}

static inline int shelv_encoder_drain(shelv_encoder *self) {
    int code;
    while ((code = avcodec_receive_packet(self->codec, self->packet)) >= 0) {
        av_packet_rescale_ts(self->packet, self->codec->time_base, self->mux->streams[0]->time_base);
        self->packet->stream_index = 0;
        code = av_write_frame(self->mux, self->packet);
        av_packet_unref(self->packet);
        if (code < 0) return code;
    }
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF ? 0 : code;
}

static inline void shelv_encoder_close(void *encoder) {
    shelv_encoder *self = (shelv_encoder *)encoder;
    if (!self) return;
    if (self->mux) {
        if (self->mux->pb) {
            av_freep(&self->mux->pb->buffer);
            avio_context_free(&self->mux->pb);
        }
        avformat_free_context(self->mux);
    }
    avcodec_free_context(&self->codec);
    swr_free(&self->convert);
    av_frame_free(&self->frame);
    av_packet_free(&self->packet);
    free(self);
}

static inline int shelv_encoder_start(shelv_encoder *self, const char *name, const char *container, int rate,
                                      int channels, int64_t bit_rate) {
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    if (!codec || !codec->sample_fmts || !(self->codec = avcodec_alloc_context3(codec))) return -1;
    self->codec->sample_fmt = codec->sample_fmts[0];
    self->codec->sample_rate = rate;
    self->codec->bit_rate = bit_rate;
    self->codec->time_base = (AVRational){1, rate};
    av_channel_layout_default(&self->codec->ch_layout, channels);
    if (avformat_alloc_output_context2(&self->mux, NULL, container, NULL) < 0) return -1;
    if (self->mux->oformat->flags & AVFMT_GLOBALHEADER) self->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (avcodec_open2(self->codec, codec, NULL) < 0) return -1;
    AVStream *stream = avformat_new_stream(self->mux, NULL);
    if (!stream || avcodec_parameters_from_context(stream->codecpar, self->codec) < 0) return -1;
    stream->time_base = self->codec->time_base;
    if (swr_alloc_set_opts2(&self->convert, &self->codec->ch_layout, self->codec->sample_fmt, rate,
                            &self->codec->ch_layout, AV_SAMPLE_FMT_FLT, rate, 0, NULL) < 0 ||
        swr_init(self->convert) < 0)
        return -1;
    uint8_t *buffer = (uint8_t *)av_malloc(65536);
    if (!buffer) return -1;
    self->mux->pb = avio_alloc_context(buffer, 65536, 1, self, NULL, shelv_encoder_bytes, NULL);
    if (!self->mux->pb) {
        av_free(buffer);
        return -1;
    }
    self->mux->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    self->frame = av_frame_alloc();
    self->packet = av_packet_alloc();
    if (!self->frame || !self->packet) return -1;
    AVDictionary *options = NULL;
    av_dict_set(&options, "page_duration", "200000", 0);
    int code = avformat_write_header(self->mux, &options);
    av_dict_free(&options);
    if (code < 0) return -1;
    avio_flush(self->mux->pb);
    return 0;
}

// An encoder whose header has been written when it returns. NULL when FFmpeg has no such thing.
static inline void *shelv_encoder_open(const char *name, const char *container, int rate, int channels,
                                       int64_t bit_rate, void *context, shelv_encoded write) {
    shelv_encoder *self = (shelv_encoder *)calloc(1, sizeof *self);
    if (!self) return NULL;
    self->context = context;
    self->write = write;
    if (shelv_encoder_start(self, name, container, rate, channels, bit_rate) >= 0) return self;
    shelv_encoder_close(self);
    return NULL;
}

// How many frames `put` wants at a time.
static inline int shelv_encoder_block(void *encoder) {
    int size = ((shelv_encoder *)encoder)->codec->frame_size;
    return size > 0 ? size : 1024;
}

// Takes one block of interleaved samples. Returns < 0 when that fails.
static inline int shelv_encoder_put(void *encoder, const float *samples, int frames) {
    shelv_encoder *self = (shelv_encoder *)encoder;
    av_frame_unref(self->frame);
    self->frame->nb_samples = frames;
    self->frame->format = self->codec->sample_fmt;
    self->frame->sample_rate = self->codec->sample_rate;
    self->frame->pts = self->position;
    self->position += frames;
    int code = av_channel_layout_copy(&self->frame->ch_layout, &self->codec->ch_layout);
    if (code < 0 || (code = av_frame_get_buffer(self->frame, 0)) < 0) return code;
    const uint8_t *in[1] = {(const uint8_t *)samples};
    code = swr_convert(self->convert, self->frame->extended_data, frames, in, frames);
    if (code < 0 || (code = avcodec_send_frame(self->codec, self->frame)) < 0) return code;
    return shelv_encoder_drain(self);
}
#endif
