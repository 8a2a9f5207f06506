#include "transfer/internal.h"

#include "curl/auth_response.h"
#include "curl/tls_hook.h"
#include "http/h2_tap.h"
#include "transfer/body_pipeline.h"

#include <string.h>

static bool has_content(const nc_transfer *transfer, const nc_h2_response *response) {
    return !transfer->request.is_head && response->status != 204 && response->status != 304;
}

/// Returns true if the whole response was kept, and the body has its announced length (RFC 9113, 8.1.1).
static bool is_whole(const nc_transfer *transfer, const nc_h2_response *response) {
    const nc_h2_stream *stream = &transfer->hop.stream;
    if (response->is_lost || response->status == 0 || response->body.length != stream->data_bytes) {
        return false;
    }
    if (!has_content(transfer, response)) {
        return stream->data_bytes == 0;
    }
    return response->has_length ? stream->data_bytes == response->length : stream->has_end;
}

/// Returns true if the response is a challenge. It cannot be delivered, because libcurl responds only to challenges
/// that it has parsed itself.
static bool awaits_credentials(const nc_transfer *transfer, const nc_h2_response *response) {
    return (response->status == 401 || response->status == 407) && nc_auth_can_respond(transfer);
}

const char *nc_h2_refused_quirk(const nc_transfer *transfer) {
    const nc_h2_stream *stream = &transfer->hop.stream;
    return stream->is_refused && stream->response != NULL && !transfer->hop.has_head ? stream->response->quirk : NULL;
}

/// Only verified bytes are delivered. nghttp2 has rejected the first head, so OpenSSL has verified the TLS record that
/// ended it. If the response continues in later records, those are checked too.
bool nc_h2_refused_is_readable(const nc_transfer *transfer) {
    const nc_h2_response *response = transfer->hop.stream.response;
    return nc_h2_refused_quirk(transfer) != NULL && transfer->error.status == NC_OK && is_whole(transfer, response) &&
           !awaits_credentials(transfer, response) && nc_h2_tap_is_reliable(nc_tls_tap(transfer->hop.tls_connection)) &&
           (!response->spans_records || nc_tls_is_verified(transfer->hop.tls_connection));
}

CURLcode nc_h2_refused_deliver(nc_transfer *transfer) {
    const nc_h2_response *response = transfer->hop.stream.response;
    nc_slice rest = nc_buf_slice(&response->heads);
    transfer->hop.is_in_head = false; // libcurl may have delivered the fields before the rejected one.
    transfer->hop.head_bytes = 0;
    while (rest.length > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.length); // Each line has one.
        size_t length = (size_t)(end - rest.data) + 1;
        if (nc_response_head_take_line(transfer, nc_slice_make(rest.data, length)) != NC_OK) {
            return CURLE_WRITE_ERROR;
        }
        rest = nc_slice_make(rest.data + length, rest.length - length);
    }
    return nc_body_pipeline_keep(transfer, nc_buf_slice(&response->body)) == NC_OK ? CURLE_OK : CURLE_WRITE_ERROR;
}
