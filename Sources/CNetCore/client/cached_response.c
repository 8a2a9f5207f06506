#include "client/cache_entry.h"

#include "http/url_text.h"
#include "request/response.h"

#include <inttypes.h>
#include <netcore/cache_functions.h>
#include <stdio.h>

/// Adds a field. A response takes name and value from one line.
static bool add_field(nc_response *response, nc_buf *line, nc_slice name, nc_slice value) {
    nc_buf_reset(line);
    nc_buf_append(line, name);
    nc_buf_append(line, nc_slice_of(": "));
    nc_buf_append(line, value);
    return nc_buf_status(line) == NC_OK &&
           nc_response_add_field(response, nc_slice_make(line->data, name.length),
                                 nc_slice_make(line->data + name.length + 2, value.length)) == NC_OK;
}

static bool add_number(nc_response *response, nc_buf *line, const char *name, uint64_t number) {
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return add_field(response, line, nc_slice_of(name), nc_slice_of(text));
}

static bool begin(nc_response *response, nc_slice text, uint16_t status, nc_http_version version) {
    nc_url url;
    (void)nc_url_parse(&url, text, NULL); // filled in also after an error
    if (nc_response_begin_hop(response, &url) != NC_OK) {
        return false;
    }
    nc_hop_metrics *hop = nc_response_hop(response);
    hop->status = status;
    hop->http_version = version;
    nc_response_begin_head(response, status, version);
    return true;
}

static bool add_stored_fields(nc_response *response, nc_buf *line, const nc_cached *cached, nc_cache_form form) {
    for (size_t i = 0; i < cached->stored.header_count; i++) {
        nc_header field = cached->fields[i];
        bool is_left_out = (form == NC_CACHE_FORM_NOT_MODIFIED && !nc_cache_keeps_in_304(field.name)) ||
                           (form == NC_CACHE_FORM_PART &&
                            (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Length")) ||
                             nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Range"))));
        if (!is_left_out && !add_field(response, line, field.name, field.value)) {
            return false;
        }
    }
    return true;
}

static bool add_range(nc_response *response, nc_buf *line, const nc_cached *cached, const nc_cache_decision *decision) {
    char text[96];
    (void)snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, decision->first, decision->last,
                   cached->stored.body_bytes);
    return add_field(response, line, nc_slice_of("Content-Range"), nc_slice_of(text)) &&
           add_number(response, line, "Content-Length", decision->last - decision->first + 1);
}

static uint16_t status_of(const nc_cached *cached, nc_cache_form form) {
    return form == NC_CACHE_FORM_NOT_MODIFIED ? 304 : form == NC_CACHE_FORM_PART ? 206 : cached->stored.status;
}

static nc_slice body_of(const nc_cached *cached, const nc_cache_decision *decision) {
    nc_slice body = cached->entry->body;
    switch (decision->form) {
    case NC_CACHE_FORM_WHOLE:
        return body;
    case NC_CACHE_FORM_PART:
        return nc_slice_make(body.data + decision->first, (size_t)(decision->last - decision->first + 1));
    default:
        return nc_slice_of("");
    }
}

static void release_entry(void *entry) {
    nc_tier_entry_release(entry);
}

static bool fill(nc_response *response, const nc_cached *cached, const nc_cache_decision *decision, int64_t now_ms) {
    nc_buf line = nc_buf_init(SIZE_MAX / 2);
    int64_t age_ms = nc_cache_age_ms(&cached->stored.freshness, now_ms);
    nc_slice body = body_of(cached, decision);
    bool is_done = begin(response, cached->url, status_of(cached, decision->form), cached->http_version) &&
                   add_stored_fields(response, &line, cached, decision->form) &&
                   add_number(response, &line, "Age", age_ms > 0 ? (uint64_t)age_ms / 1000 : 0) &&
                   (decision->form != NC_CACHE_FORM_PART || add_range(response, &line, cached, decision));
    nc_buf_deinit(&line);
    if (is_done) {
        nc_response_share_body(response, body, nc_tier_entry_retain(cached->entry), release_entry);
        nc_response_hop(response)->decoded_bytes = body.length;
    }
    return is_done;
}

nc_response *nc_cached_response(nc_pool *pool, const nc_cached *cached, const nc_cache_decision *decision,
                                int64_t now_ms) {
    nc_response *response = nc_response_new(pool);
    if (response != NULL && !fill(response, cached, decision, now_ms)) {
        nc_response_release(response);
        return NULL;
    }
    return response;
}

nc_response *nc_cached_gateway_timeout(nc_pool *pool, nc_slice url) {
    nc_response *response = nc_response_new(pool);
    if (response != NULL && !begin(response, url, 504, NC_HTTP_VERSION_UNKNOWN)) {
        nc_response_release(response);
        return NULL;
    }
    return response;
}
