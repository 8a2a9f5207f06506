#include "request/request_template.h"

#include "base/alloc.h"

#include <netcore/expectation.h>
#include <netcore/multipart.h>
#include <netcore/trust.h>
#include <string.h>

/// Allocates from one block of memory. If `base` is NULL, only counts the bytes that are needed.
typedef struct arena {
    uint8_t *base;
    size_t used;
} arena;

static void *take(arena *from, size_t bytes) {
    size_t room = (bytes + 15u) & ~(size_t)15u;
    void *bytes_at = from->base != NULL ? from->base + from->used : NULL;
    from->used += room;
    return bytes_at;
}

static nc_slice copy_text(arena *from, nc_slice text) {
    uint8_t *copy = take(from, text.length);
    if (copy != NULL && text.length > 0) {
        memcpy(copy, text.data, text.length);
    }
    return nc_slice_make(copy, text.length);
}

static nc_header *copy_headers(arena *from, const nc_header *headers, size_t count, size_t more) {
    nc_header *copy = take(from, (count + more) * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        nc_slice name = copy_text(from, headers[i].name);
        nc_slice value = copy_text(from, headers[i].value);
        if (copy != NULL) {
            copy[i] = (nc_header){.name = name, .value = value};
        }
    }
    return copy;
}

static void copy_credentials(arena *from, nc_credentials *credentials) {
    credentials->user = copy_text(from, credentials->user);
    credentials->password = copy_text(from, credentials->password);
    credentials->token = copy_text(from, credentials->token);
}

static const nc_connect_to *copy_overrides(arena *from, const nc_request *source) {
    nc_connect_to *overrides = take(from, source->connect_to_count * sizeof *overrides);
    for (size_t i = 0; i < source->connect_to_count; i++) {
        nc_connect_to one = source->connect_to[i];
        one.host = copy_text(from, one.host);
        one.to_host = copy_text(from, one.to_host);
        if (overrides != NULL) {
            overrides[i] = one;
        }
    }
    return overrides;
}

static void copy_all(arena *from, nc_request_template *out, const nc_request *source, size_t more_fields) {
    nc_request *request = &out->request;
    *request = *source;
    request->method = copy_text(from, source->method);
    request->url = copy_text(from, source->url);
    request->body = copy_text(from, source->body);
    request->body_file = copy_text(from, source->body_file);
    request->save_path = copy_text(from, source->save_path);
    out->headers = copy_headers(from, source->headers, source->header_count, more_fields);
    request->headers = out->headers;
    request->trailers.fields = copy_headers(from, source->trailers.fields, source->trailers.count, 0);
    request->unix_socket = copy_text(from, source->unix_socket);
    copy_credentials(from, &request->credentials);
    request->connect_to = copy_overrides(from, source);
    if (source->proxy != NULL) {
        out->proxy = *source->proxy;
        out->proxy.url = copy_text(from, source->proxy->url);
        out->proxy.except = copy_text(from, source->proxy->except);
        copy_credentials(from, &out->proxy.credentials);
        out->proxy.headers = copy_headers(from, source->proxy->headers, source->proxy->header_count, 0);
        request->proxy = &out->proxy;
    }
}

nc_status nc_request_template_init(nc_request_template *out, const nc_request *request, size_t more_fields) {
    arena counting = {0};
    copy_all(&counting, out, request, more_fields);
    arena copying = {.base = nc_alloc(counting.used)};
    if (copying.base == NULL) {
        *out = (nc_request_template){0};
        return NC_ERR_NO_MEMORY;
    }
    copy_all(&copying, out, request, more_fields);
    out->storage = copying.base;
    if (out->request.trust != NULL) {
        (void)nc_trust_retain(out->request.trust);
    }
    if (out->request.multipart != NULL) {
        (void)nc_multipart_retain(out->request.multipart);
    }
    if (out->request.expectation != NULL) {
        (void)nc_expectation_retain(out->request.expectation);
    }
    return NC_OK;
}

void nc_request_drop_conditions(nc_request_template *copy) {
    static const char *const names[] = {"Range",    "If-Range",           "If-None-Match", "If-Modified-Since",
                                        "If-Match", "If-Unmodified-Since"};
    size_t count = 0;
    for (size_t i = 0; i < copy->request.header_count; i++) {
        bool is_condition = false;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            is_condition =
                is_condition || nc_slice_is_equal_ignoring_case(copy->headers[i].name, nc_slice_of(names[k]));
        }
        if (!is_condition) {
            copy->headers[count++] = copy->headers[i];
        }
    }
    copy->request.header_count = count;
    copy->request.method = nc_slice_of("");
}

void nc_request_template_deinit(nc_request_template *copy) {
    if (copy->storage != NULL) {
        nc_trust_release(copy->request.trust);
        nc_multipart_release(copy->request.multipart);
        nc_expectation_release(copy->request.expectation);
    }
    nc_free(copy->storage);
    *copy = (nc_request_template){0};
}
