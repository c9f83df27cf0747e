#ifndef SHELVMPD_CMPV_H
#define SHELVMPD_CMPV_H
#include <mpv/client.h>
#include <mpv/stream_cb.h>
#endif
