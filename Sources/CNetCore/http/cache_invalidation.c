#include "http/field_list.h"

#include <netcore/cache_functions.h>
#include <netcore/method.h>
#include <netcore/url.h>

/// Percent-encodes blanks and bytes outside ASCII, which servers send unencoded.
static void append_escaped(nc_buf *out, nc_slice reference) {
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < reference.length; i++) {
        uint8_t byte = reference.data[i];
        if (byte == ' ' || byte >= 0x80) {
            const uint8_t escaped[3] = {'%', (uint8_t)hex[byte >> 4], (uint8_t)hex[byte & 15]};
            nc_buf_append(out, nc_slice_make(escaped, sizeof escaped));
        } else {
            nc_buf_append_byte(out, byte);
        }
    }
}

/// Appends the URL that a field names, if it is same-origin. Returns its length; 0 if it is left out.
static size_t append_named(nc_buf *room, const nc_cache_request *request, const nc_header *field) {
    nc_buf escaped = nc_buf_init(NC_URL_MAX_BYTES);
    size_t start = room->length;
    append_escaped(&escaped, field->value);
    nc_status status = nc_buf_status(&escaped);
    if (status == NC_OK) {
        status = nc_url_resolve(room, request->url, nc_buf_slice(&escaped), NULL);
    }
    nc_buf_deinit(&escaped);
    bool is_same =
        status == NC_OK && nc_url_is_same_origin(nc_slice_make(room->data + start, room->length - start), request->url);
    if (status == NC_ERR_NO_MEMORY || room->status == NC_ERR_NO_MEMORY) {
        room->status = NC_ERR_NO_MEMORY;
        return 0;
    }
    room->status = NC_OK;
    room->length = is_same ? room->length : start;
    return room->length - start;
}

nc_status nc_cache_invalidates(nc_cache_invalidation *out, nc_buf *room, const nc_cache_request *request,
                               const nc_cache_response *response) {
    static const char *const names[] = {"Location", "Content-Location"};
    size_t lengths[2] = {0, 0};
    nc_fields fields = {response->headers, response->header_count};
    *out = (nc_cache_invalidation){.count = 0};
    nc_buf_reset(room);
    if (nc_method_is_safe(request->method) || response->status < 200 || response->status > 399) {
        return NC_OK;
    }
    out->urls[out->count++] = request->url;
    for (size_t i = 0; i < 2 && room->status == NC_OK; i++) {
        const nc_header *field = nc_fields_find(fields, names[i]);
        lengths[i] = field != NULL ? append_named(room, request, field) : 0;
    }
    // The buffer's memory may have moved, so the slices are made last.
    for (size_t i = 0, at = 0; i < 2; at += lengths[i], i++) {
        if (lengths[i] > 0) {
            out->urls[out->count++] = nc_slice_make(room->data + at, lengths[i]);
        }
    }
    return nc_buf_status(room);
}
