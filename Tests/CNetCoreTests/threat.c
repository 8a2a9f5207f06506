#include "threat.h"

#include "base/ascii.h"
#include "torture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RECORDED_BYTES = 1 << 20, THREAT_PATIENCE_S = 90 };

/* --- strides and time --- */

bool threat_is_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

size_t threat_stride(size_t plain) {
    uint64_t stride = torture_number("NETCORE_THREAT_STRIDE", threat_is_sanitized() ? THREAT_STRIDE : plain);
    return stride > 0 ? (size_t)stride : 1;
}

static atomic_ullong skipped_ns;

static uint64_t monotonic_ns(void *ctx) {
    nc_clock system = nc_clock_system();
    (void)ctx;
    return system.monotonic_ns(system.ctx) + atomic_load(&skipped_ns);
}

nc_clock threat_clock(void) {
    nc_clock clock = nc_clock_system();
    clock.monotonic_ns = monotonic_ns;
    return clock;
}

void threat_clock_skip_ms(uint64_t ms) {
    atomic_fetch_add(&skipped_ns, ms * 1000000u);
}

/* --- volleys --- */

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    threat_transfer *transfer = ctx;
    threat_batch *volley = transfer->volley;
    (void)id;
    transfer->error = *error;
    transfer->response = nc_response_retain(response);
    pthread_mutex_lock(&volley->mutex);
    if (--volley->pending == volley->awaited) {
        pthread_cond_signal(&volley->changed);
    }
    pthread_mutex_unlock(&volley->mutex);
}

nc_status threat_submit(threat_batch *volley, const nc_request *request, threat_transfer *out) {
    nc_transfer_id id = 0;
    nc_error err;
    const nc_sink sink = {.ctx = out, .on_done = on_done};
    *out = (threat_transfer){.volley = volley};
    pthread_mutex_lock(&volley->mutex);
    volley->pending++;
    pthread_mutex_unlock(&volley->mutex);
    nc_status status = nc_engine_submit(volley->engine, request, &sink, &id, &err);
    if (status != NC_OK) {
        out->error = err;
        pthread_mutex_lock(&volley->mutex);
        volley->pending--;
        pthread_mutex_unlock(&volley->mutex);
    }
    return status;
}

void threat_await(threat_batch *volley, size_t left) {
    struct timespec end;
    int failure = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += THREAT_PATIENCE_S;
    pthread_mutex_lock(&volley->mutex);
    volley->awaited = left;
    while (volley->pending > left && failure == 0) {
        failure = pthread_cond_timedwait(&volley->changed, &volley->mutex, &end);
    }
    bool is_over = volley->pending <= left;
    pthread_mutex_unlock(&volley->mutex);
    assert_true(is_over);
}

void threat_release(threat_transfer *transfers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        nc_response_release(transfers[i].response);
        transfers[i] = (threat_transfer){0};
    }
}

/* --- requests as a server received them --- */

nc_buf threat_received(nct_server *server, size_t index) {
    nc_buf bytes = nc_buf_init(MAX_RECORDED_BYTES);
    size_t length = nct_server_copy_request(server, index, NULL, 0);
    assert_true(length > 0 && length < MAX_RECORDED_BYTES);
    assert_status(nc_buf_reserve(&bytes, length), NC_OK);
    bytes.length = nct_server_copy_request(server, index, bytes.data, length);
    return bytes;
}

bool threat_holds(nc_slice bytes, const char *text) {
    return bytes.length > 0 && memmem(bytes.data, bytes.length, text, strlen(text)) != NULL;
}

static bool is_token(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_token(text.data[i])) {
            return false;
        }
    }
    return text.length > 0;
}

/// Takes a line up to its CR LF; false when there is none, or a stray CR, LF or NUL before it.
static bool take_line(nc_slice *rest, nc_slice *line) {
    const uint8_t *end = rest->length > 0 ? memmem(rest->data, rest->length, "\r\n", 2) : NULL;
    if (end == NULL) {
        return false;
    }
    *line = nc_slice_make(rest->data, (size_t)(end - rest->data));
    *rest = nc_slice_make(end + 2, rest->length - line->length - 2);
    return memchr(line->data, '\r', line->length) == NULL && memchr(line->data, '\n', line->length) == NULL &&
           memchr(line->data, 0, line->length) == NULL;
}

static bool parse_request_line(threat_request *out, nc_slice line) {
    const uint8_t *first = memchr(line.data, ' ', line.length);
    const uint8_t *last = memrchr(line.data, ' ', line.length);
    if (first == NULL || first == last) {
        return false;
    }
    out->method = nc_slice_make(line.data, (size_t)(first - line.data));
    out->target = nc_slice_make(first + 1, (size_t)(last - first - 1));
    nc_slice version = nc_slice_make(last + 1, line.length - (size_t)(last + 1 - line.data));
    for (size_t i = 0; i < out->target.length; i++) {
        if (out->target.data[i] <= ' ' || out->target.data[i] == 0x7f) {
            return false;
        }
    }
    return is_token(out->method) && out->target.length > 0 && nc_slice_is_equal(version, nc_slice_of("HTTP/1.1"));
}

static bool parse_field(threat_request *out, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    if (colon == NULL || out->field_count == THREAT_MAX_FIELDS) {
        return false;
    }
    nc_slice name = nc_slice_make(line.data, (size_t)(colon - line.data));
    nc_slice value = nc_slice_make(colon + 1, line.length - name.length - 1);
    if (value.length > 0 && value.data[0] == ' ') {
        value = nc_slice_make(value.data + 1, value.length - 1);
    }
    out->fields[out->field_count++] = (nc_header){name, value};
    return is_token(name);
}

nc_slice threat_field(const threat_request *request, const char *name) {
    nc_slice found = {NULL, 0};
    size_t count = 0;
    for (size_t i = 0; i < request->field_count; i++) {
        if (nc_slice_is_equal_ignoring_case(request->fields[i].name, nc_slice_of(name))) {
            found = request->fields[i].value;
            count++;
        }
    }
    return count == 1 ? found : nc_slice_make(NULL, 0);
}

bool threat_parse(threat_request *out, nc_slice bytes) {
    nc_slice rest = bytes;
    nc_slice line = {0};
    *out = (threat_request){0};
    if (!take_line(&rest, &line) || !parse_request_line(out, line)) {
        return false;
    }
    for (;;) {
        if (!take_line(&rest, &line)) {
            return false;
        }
        if (line.length == 0) {
            break;
        }
        if (!parse_field(out, line)) {
            return false;
        }
    }
    out->body = rest;
    nc_slice announced = threat_field(out, "Content-Length");
    char expected[24];
    (void)snprintf(expected, sizeof expected, "%zu", rest.length);
    return announced.data != NULL ? nc_slice_is_equal(announced, nc_slice_of(expected)) : rest.length == 0;
}
