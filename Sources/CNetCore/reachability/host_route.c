#include "reachability/path_source.h"

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

static void append_address(nc_path_destinations *out, const struct sockaddr *address) {
    nc_path_destination destination = {.family = address->sa_family == AF_INET ? 4 : 6};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        memcpy(destination.bytes, &four.sin_addr, sizeof four.sin_addr);
    } else {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        memcpy(destination.bytes, &six.sin6_addr, sizeof six.sin6_addr);
        destination.scope = six.sin6_scope_id;
    }
    out->destinations[out->count++] = destination;
}

static bool resolve(const char *host, int flags, nc_path_destinations *out) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *all = NULL;
    out->count = 0;
    if (getaddrinfo(host, NULL, &hints, &all) != 0) {
        return false;
    }
    for (const struct addrinfo *one = all; one != NULL && out->count < NC_PATH_MAX_DESTINATIONS; one = one->ai_next) {
        if (one->ai_family == AF_INET || one->ai_family == AF_INET6) {
            append_address(out, one->ai_addr);
        }
    }
    freeaddrinfo(all);
    return out->count > 0;
}

bool nc_path_host_parse(const char *host, nc_path_destinations *out) {
    return resolve(host, AI_NUMERICHOST, out);
}

bool nc_path_host_lookup(const char *host, nc_path_destinations *out) {
    return resolve(host, 0, out);
}

void nc_path_host_state(nc_path_source *source, const nc_path_destinations *destinations, nc_path_state *out) {
    if (destinations->count == 0) {
        nc_path_source_state(source, out);
        return;
    }
    for (size_t i = 0; i < destinations->count; i++) {
        nc_path_source_state_of(source, &destinations->destinations[i], out);
        if (out->status != NC_PATH_NOT_REACHABLE) {
            return;
        }
    }
}
