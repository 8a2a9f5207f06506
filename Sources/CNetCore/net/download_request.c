#include "net/download_request.h"

#include "base/alloc.h"

#include <string.h>

/// Allocates from one block; without a block it only counts.
typedef struct arena {
    uint8_t *base;
    size_t used;
} arena;

static void *take(arena *from, size_t bytes) {
    size_t room = (bytes + 15u) & ~(size_t)15u;
    void *place = from->base != NULL ? from->base + from->used : NULL;
    from->used += room;
    return place;
}

static nc_slice keep_text(arena *from, nc_slice text) {
    uint8_t *copy = take(from, text.length);
    if (copy != NULL && text.length > 0) {
        memcpy(copy, text.data, text.length);
    }
    return nc_slice_make(copy, text.length);
}

static nc_header *keep_headers(arena *from, const nc_header *headers, size_t count, size_t more) {
    nc_header *copy = take(from, (count + more) * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        nc_slice name = keep_text(from, headers[i].name);
        nc_slice value = keep_text(from, headers[i].value);
        if (copy != NULL) {
            copy[i] = (nc_header){.name = name, .value = value};
        }
    }
    return copy;
}

static void keep_credentials(arena *from, nc_credentials *credentials) {
    credentials->user = keep_text(from, credentials->user);
    credentials->password = keep_text(from, credentials->password);
    credentials->token = keep_text(from, credentials->token);
}

static void keep_all(arena *from, nc_kept_request *out, const nc_request *asked) {
    nc_request *request = &out->request;
    *request = *asked;
    request->method = (nc_slice){0};
    request->url = keep_text(from, asked->url);
    out->headers = keep_headers(from, asked->headers, asked->header_count, NC_KEPT_MORE_FIELDS);
    request->headers = out->headers;
    request->unix_socket = keep_text(from, asked->unix_socket);
    keep_credentials(from, &request->credentials);
    nc_connect_to *overrides = take(from, asked->connect_to_count * sizeof *overrides);
    for (size_t i = 0; i < asked->connect_to_count; i++) {
        nc_connect_to one = asked->connect_to[i];
        one.host = keep_text(from, one.host);
        one.to_host = keep_text(from, one.to_host);
        if (overrides != NULL) {
            overrides[i] = one;
        }
    }
    request->connect_to = overrides;
    if (asked->proxy != NULL) {
        out->proxy = *asked->proxy;
        out->proxy.url = keep_text(from, asked->proxy->url);
        out->proxy.except = keep_text(from, asked->proxy->except);
        keep_credentials(from, &out->proxy.credentials);
        out->proxy.headers = keep_headers(from, asked->proxy->headers, asked->proxy->header_count, 0);
        request->proxy = &out->proxy;
    }
}

nc_status nc_kept_request_init(nc_kept_request *out, const nc_request *from) {
    arena counting = {0};
    keep_all(&counting, out, from);
    arena keeping = {.base = nc_alloc(counting.used)};
    if (keeping.base == NULL) {
        *out = (nc_kept_request){0};
        return NC_ERR_NO_MEMORY;
    }
    keep_all(&keeping, out, from);
    out->storage = keeping.base;
    if (out->request.trust != NULL) {
        (void)nc_trust_retain(out->request.trust);
    }
    return NC_OK;
}

void nc_kept_request_deinit(nc_kept_request *kept) {
    if (kept->storage != NULL) {
        nc_trust_release(kept->request.trust);
    }
    nc_free(kept->storage);
    *kept = (nc_kept_request){0};
}
