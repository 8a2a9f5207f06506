#include "net/path_host.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

bool nc_path_host_copy(nc_slice host, char out[NC_PATH_HOST_BYTES]) {
    if (host.length >= 2 && host.data[0] == '[' && host.data[host.length - 1] == ']') {
        host = nc_slice_make(host.data + 1, host.length - 2);
    }
    if (host.length >= NC_PATH_HOST_BYTES || (host.length > 0 && memchr(host.data, 0, host.length) != NULL)) {
        return false;
    }
    if (host.length > 0) {
        memcpy(out, host.data, host.length);
    }
    out[host.length] = '\0';
    return true;
}

static void add(nc_path_places *out, const struct sockaddr *address) {
    nc_path_place place = {.family = address->sa_family == AF_INET ? 4 : 6};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        memcpy(place.bytes, &four.sin_addr, sizeof four.sin_addr);
    } else {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        memcpy(place.bytes, &six.sin6_addr, sizeof six.sin6_addr);
        place.scope = six.sin6_scope_id;
    }
    out->places[out->count++] = place;
}

static bool ask(const char *host, int flags, nc_path_places *out) {
    const struct addrinfo wish = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *all = NULL;
    out->count = 0;
    if (getaddrinfo(host, NULL, &wish, &all) != 0) {
        return false;
    }
    for (const struct addrinfo *one = all; one != NULL && out->count < NC_PATH_MAX_PLACES; one = one->ai_next) {
        if (one->ai_family == AF_INET || one->ai_family == AF_INET6) {
            add(out, one->ai_addr);
        }
    }
    freeaddrinfo(all);
    return out->count > 0;
}

bool nc_path_host_parse(const char *host, nc_path_places *out) {
    return ask(host, AI_NUMERICHOST, out);
}

bool nc_path_host_look_up(const char *host, nc_path_places *out) {
    return ask(host, 0, out);
}

void nc_path_host_state(nc_path_source *source, const nc_path_places *places, nc_path_state *out) {
    if (places->count == 0) {
        nc_path_source_state(source, out);
        return;
    }
    for (size_t i = 0; i < places->count; i++) {
        nc_path_source_state_of(source, &places->places[i], out);
        if (out->status != NC_PATH_NOT_REACHABLE) {
            return;
        }
    }
}
