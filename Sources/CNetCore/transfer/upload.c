#include "transfer/internal.h"

#include "base/error.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"

#include <errno.h>
#include <string.h>

static size_t refuse(nc_transfer *transfer, nc_status status, int native_code, const char *text) {
    (void)nc_transfer_record_error(transfer, status, native_code, "%s", text);
    return CURL_READFUNC_ABORT;
}

static size_t read_memory(nc_transfer *transfer, uint8_t *bytes, size_t capacity) {
    nc_slice body = transfer->request.body;
    size_t at = (size_t)(transfer->request.body_offset + transfer->upload.sent);
    size_t left = body.length - at;
    size_t count = left < capacity ? left : capacity;
    if (count > 0) {
        memcpy(bytes, body.data + at, count);
    }
    return count;
}

static ssize_t read_at(const nc_transfer *transfer, uint8_t *bytes, size_t wanted, uint64_t offset) {
    const nc_file_ops *files = &transfer->engine->files;
    ssize_t got = 0;
    do {
        got = files->read_at(files->ctx, transfer->upload.fd, bytes, wanted,
                             (off_t)(transfer->request.body_offset + offset));
    } while (got < 0 && errno == EINTR);
    return got;
}

static size_t refuse_file(nc_transfer *transfer, const char *became) {
    (void)nc_transfer_record_error(transfer, NC_ERR_BODY_LENGTH, 0, "'%s' became %s while it was sent",
                                   transfer->request.options->body_file, became);
    return CURL_READFUNC_ABORT;
}

/// Before the last announced byte is delivered, one more is read. Otherwise a file that has grown would be sent
/// truncated, without an error.
static size_t read_file(nc_transfer *transfer, uint8_t *bytes, size_t capacity) {
    uint64_t sent = transfer->upload.sent;
    uint64_t left = transfer->upload.length - sent;
    size_t wanted = left < capacity ? (size_t)left : capacity;
    uint8_t beyond;
    if (wanted == 0) {
        return 0;
    }
    ssize_t got = read_at(transfer, bytes, wanted, sent);
    if (got < 0) {
        int code = errno;
        (void)nc_transfer_record_error(transfer, nc_error_of_file(code), code, "'%s' cannot be read: %s",
                                       transfer->request.options->body_file, strerror(code));
        return CURL_READFUNC_ABORT;
    }
    if (got == 0) {
        return refuse_file(transfer, "shorter");
    }
    bool is_last = (uint64_t)got == left;
    return is_last && read_at(transfer, &beyond, 1, sent + left) > 0 ? refuse_file(transfer, "longer") : (size_t)got;
}

/// Checks if a source that has delivered all announced bytes has ended. Returns NC_PULL_END if so, NC_PULL_MORE if it
/// has more bytes, NC_PULL_LATER if it does not know yet, NC_PULL_FAIL if it has failed.
static nc_pull check_source_end(nc_transfer *transfer) {
    const nc_body_source *source = &transfer->request.source;
    uint8_t one;
    size_t filled = 0;
    nc_pull pulled = source->pull(source->ctx, transfer->id, &one, 1, &filled);
    transfer->upload.has_source_ended = pulled == NC_PULL_END && filled == 0;
    return pulled == NC_PULL_END && filled > 0 ? NC_PULL_MORE : pulled;
}

static size_t refuse_failure(nc_transfer *transfer) {
    return refuse(transfer, NC_ERR_BODY_SOURCE, 0, nc_status_text(NC_ERR_BODY_SOURCE));
}

static size_t refuse_length(nc_transfer *transfer, bool is_long) {
    (void)nc_transfer_record_error(transfer, NC_ERR_BODY_LENGTH, 0,
                                   "the body source returned %s than the %llu bytes announced",
                                   is_long ? "more" : "fewer", (unsigned long long)transfer->upload.length);
    return CURL_READFUNC_ABORT;
}

/// Returns how many of the last announced bytes, which are in `bytes`, may be sent now. The last byte is not sent
/// before the source has ended, because a server must not accept a body that is too long as complete.
static size_t read_end(nc_transfer *transfer, uint8_t *bytes, size_t filled) {
    nc_upload *upload = &transfer->upload;
    switch (check_source_end(transfer)) {
    case NC_PULL_END:
        upload->holds_last_byte = false;
        return filled;
    case NC_PULL_LATER:
        upload->holds_last_byte = true;
        upload->last_byte = bytes[filled - 1];
        return filled > 1 ? filled - 1 : CURL_READFUNC_PAUSE;
    case NC_PULL_MORE:
        return refuse_length(transfer, true);
    default:
        return refuse_failure(transfer);
    }
}

static size_t read_source(nc_transfer *transfer, uint8_t *bytes, size_t capacity) {
    nc_upload *upload = &transfer->upload;
    const nc_body_source *source = &transfer->request.source;
    size_t filled = 0;
    bool is_known = upload->length != NC_LENGTH_UNKNOWN;
    uint64_t left = is_known ? upload->length - upload->sent : UINT64_MAX;
    if (upload->has_source_ended || left == 0) {
        return 0;
    }
    if (upload->holds_last_byte) {
        bytes[0] = upload->last_byte;
        return read_end(transfer, bytes, 1);
    }
    nc_pull pulled = source->pull(source->ctx, transfer->id, bytes, capacity, &filled);
    if (pulled == NC_PULL_LATER) {
        return CURL_READFUNC_PAUSE;
    }
    if (pulled == NC_PULL_FAIL) {
        return refuse_failure(transfer);
    }
    if ((pulled != NC_PULL_MORE && pulled != NC_PULL_END) || filled > capacity ||
        (pulled == NC_PULL_MORE && filled == 0)) {
        return refuse(transfer, NC_ERR_BODY_SOURCE, 0,
                      "the source of the request body returned an invalid result or byte count");
    }
    upload->has_source_ended = pulled == NC_PULL_END;
    if (is_known && (filled > left || (upload->has_source_ended && filled < left))) {
        return refuse_length(transfer, filled > left);
    }
    return is_known && filled == left && !upload->has_source_ended ? read_end(transfer, bytes, filled) : filled;
}

static size_t read_body(nc_transfer *transfer, uint8_t *bytes, size_t capacity) {
    if (transfer->request.source.pull != NULL) {
        return read_source(transfer, bytes, capacity);
    }
    return transfer->upload.fd >= 0 ? read_file(transfer, bytes, capacity) : read_memory(transfer, bytes, capacity);
}

size_t nc_upload_read(nc_transfer *transfer, uint8_t *bytes, size_t capacity) {
    transfer->upload.has_begun = true;
    size_t count = read_body(transfer, bytes, capacity);
    return count == 0 && nc_transfer_sends_trailers(transfer) ? nc_request_trailers_prepare(transfer) : count;
}

bool nc_upload_seek(nc_transfer *transfer, uint64_t offset) {
    nc_upload *upload = &transfer->upload;
    const nc_body_source *source = &transfer->request.source;
    uint64_t from = transfer->request.body_offset;
    bool is_possible = upload->length == NC_LENGTH_UNKNOWN || offset <= upload->length;
    if (is_possible && source->pull != NULL && (upload->has_begun || from + offset > 0)) {
        is_possible = source->seek != NULL && source->seek(source->ctx, transfer->id, from + offset);
    }
    if (!is_possible) {
        (void)nc_transfer_record_error(transfer, NC_ERR_NOT_REWINDABLE, CURLE_SEND_FAIL_REWIND, "%s",
                                       nc_status_text(NC_ERR_NOT_REWINDABLE));
        return false;
    }
    upload->sent = offset;
    upload->has_begun = false;
    upload->has_source_ended = false;
    upload->holds_last_byte = false;
    nc_request_trailers_reset(transfer);
    return true;
}

/// Checks that a source with the announced length 0 has no bytes. libcurl never reads such a body, and would not notice
/// them.
static bool has_nothing(nc_transfer *transfer) {
    switch (check_source_end(transfer)) {
    case NC_PULL_END:
    case NC_PULL_LATER:
        transfer->upload.has_source_ended = true;
        return true;
    case NC_PULL_MORE:
        (void)refuse_length(transfer, true);
        return false;
    default:
        (void)refuse_failure(transfer);
        return false;
    }
}

bool nc_upload_begin_hop(nc_transfer *transfer) {
    bool sends = transfer->request.has_body && !transfer->is_get;
    bool is_empty = transfer->request.source.pull != NULL && transfer->upload.length == 0;
    transfer->upload.sent = 0; // Also if a redirect has dropped the body: the bytes were sent in the last hop.
    if (!sends || (is_empty && transfer->upload.has_source_ended)) {
        // A source without bytes is only checked on the first hop, and an empty body can be sent any number of times.
        return true;
    }
    return nc_upload_seek(transfer, 0) && (!is_empty || has_nothing(transfer));
}
