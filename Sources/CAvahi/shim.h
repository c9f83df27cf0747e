// Avahi's client: announcing a service on the local network, through the daemon.
#ifndef SHELVMPD_CAVAHI_H
#define SHELVMPD_CAVAHI_H
#include <avahi-client/client.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <stddef.h>

// On all interfaces, by all protocols; constants of anonymous enumerations.
static inline int shelv_avahi_add(AvahiEntryGroup *group, const char *name, const char *type, uint16_t port) {
    return avahi_entry_group_add_service_strlst(
        group, AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC, (AvahiPublishFlags)0, name, type, NULL, NULL, port, NULL);
}
static inline int shelv_avahi_is_collision(int error) { return error == AVAHI_ERR_COLLISION; }
#endif
