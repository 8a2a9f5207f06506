#include "net/h2_refused.h"

#include "net/auth_answer.h"
#include "net/delivery.h"
#include "net/head.h"
#include "net/tls_hook.h"

#include <string.h>

static bool has_content(const nc_transfer *transfer, const nc_h2_answer *answer) {
    return !transfer->description.is_head && answer->status != 204 && answer->status != 304;
}

/// RFC 9113, 8.1.1.
static bool is_whole(const nc_transfer *transfer, const nc_h2_answer *answer) {
    const nc_h2_stream *stream = &transfer->stream;
    if (answer->is_lost || answer->status == 0 || answer->body.length != stream->data_bytes) {
        return false;
    }
    if (!has_content(transfer, answer)) {
        return stream->data_bytes == 0;
    }
    return answer->has_length ? stream->data_bytes == answer->length : stream->has_end;
}

/// libcurl responds to challenges only of responses that it has parsed itself.
static bool awaits_credentials(const nc_transfer *transfer, const nc_h2_answer *answer) {
    return (answer->status == 401 || answer->status == 407) && nc_auth_answers_challenges(transfer);
}

const char *nc_h2_refused_quirk(const nc_transfer *transfer) {
    const nc_h2_stream *stream = &transfer->stream;
    return stream->is_refused && stream->answer != NULL && !transfer->has_head ? stream->answer->quirk : NULL;
}

/// The record that ended the first head is verified, because nghttp2 has rejected that head.
bool nc_h2_refused_is_readable(const nc_transfer *transfer) {
    const nc_h2_answer *answer = transfer->stream.answer;
    return nc_h2_refused_quirk(transfer) != NULL && transfer->error.status == NC_OK && is_whole(transfer, answer) &&
           !awaits_credentials(transfer, answer) && nc_h2_tap_is_reliable(nc_tls_tap(transfer->tls_end)) &&
           (!answer->spans_records || nc_tls_is_verified(transfer->tls_end));
}

CURLcode nc_h2_refused_deliver(nc_transfer *transfer) {
    const nc_h2_answer *answer = transfer->stream.answer;
    nc_slice rest = nc_buf_slice(&answer->heads);
    transfer->is_in_head = false; // libcurl 8 has delivered the fields before the rejected one.
    transfer->head_bytes = 0;
    while (rest.length > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.length); // Each line has one.
        size_t length = (size_t)(end - rest.data) + 1;
        if (nc_head_take_line(transfer, nc_slice_make(rest.data, length)) != NC_OK) {
            return CURLE_WRITE_ERROR;
        }
        rest = nc_slice_make(rest.data + length, rest.length - length);
    }
    return nc_delivery_keep(transfer, nc_buf_slice(&answer->body)) == NC_OK ? CURLE_OK : CURLE_WRITE_ERROR;
}
