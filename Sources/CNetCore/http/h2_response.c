#include "http/h2_response.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "http/framing.h"
#include "http/hpack.h"

#include <stdio.h>
#include <string.h>

/// Limits of the lines of the heads, and of the body that the engine collects.
enum { MAX_LINES_BYTES = 256 << 10, MAX_BODY_BYTES = 1 << 20 };

nc_h2_head nc_h2_head_init(void) {
    return (nc_h2_head){.lines = nc_buf_init(MAX_LINES_BYTES)};
}

void nc_h2_head_deinit(nc_h2_head *head) {
    nc_buf_deinit(&head->lines);
}

/* --- heads --- */

static inline bool is_named(nc_slice name, const char *other) {
    size_t length = strlen(other);
    return name.length == length && memcmp(name.data, other, length) == 0;
}

/// RFC 9113, 8.2.2.
static bool is_connection_specific(nc_slice name) {
    return is_named(name, "connection") || is_named(name, "keep-alive") || is_named(name, "proxy-connection") ||
           is_named(name, "transfer-encoding") || is_named(name, "upgrade");
}

/// RFC 9113, 8.2.1 and 8.2.2: returns true for a token in lower case that is not a connection-specific field.
static bool is_valid_name(nc_slice name) {
    bool is_valid = name.length > 0;
    for (size_t i = 0; i < name.length; i++) {
        is_valid &= nc_ascii_is_token(name.data[i]) & !(name.data[i] >= 'A' && name.data[i] <= 'Z');
    }
    return is_valid && !is_connection_specific(name);
}

/// Processes ":status". RFC 9113, 8.3.2: it is the only pseudo-header field of a response, and comes first.
static void take_status(nc_h2_head *head, nc_slice name, nc_slice value) {
    bool is_number = value.length == 3;
    for (size_t i = 0; is_number && i < 3; i++) {
        is_number = nc_ascii_is_digit(value.data[i]);
    }
    if (!is_named(name, ":status") || !is_number || value.data[0] == '0') {
        head->is_not_valid = true;
        return;
    }
    head->status = (uint16_t)((value.data[0] - '0') * 100 + (value.data[1] - '0') * 10 + (value.data[2] - '0'));
    nc_buf_append(&head->lines, nc_slice_of("HTTP/2 "));
    nc_buf_append(&head->lines, value);
    nc_buf_append(&head->lines, nc_slice_of(" \r\n"));
}

static void take_length(nc_h2_head *head, nc_framing *framing, nc_slice name, nc_slice value) {
    nc_framing_take(framing, name, value);
    head->lengths++;
    head->has_list = head->has_list || memchr(value.data, ',', value.length) != NULL;
}

/// Appends "name: value" with one check of the room.
static void append_line(nc_buf *lines, nc_slice name, nc_slice value) {
    enum { FRAME_BYTES = 4 }; // ": " and CR LF
    if (nc_buf_reserve(lines, name.length + value.length + FRAME_BYTES) != NC_OK) {
        return;
    }
    uint8_t *at = lines->data + lines->length;
    memcpy(at, name.data, name.length);
    memcpy(at + name.length, ": ", 2);
    if (value.length > 0) {
        memcpy(at + name.length + 2, value.data, value.length);
    }
    memcpy(at + name.length + 2 + value.length, "\r\n", 2);
    lines->length += name.length + value.length + FRAME_BYTES;
}

typedef struct block_reader {
    nc_h2_head *head;
    nc_framing framing;
} block_reader;

static void take_field(void *ctx, nc_slice name, nc_slice value) {
    block_reader *reader = ctx;
    nc_h2_head *head = reader->head;
    if (head->is_not_valid) {
        return;
    }
    if (head->fields++ == 0) {
        take_status(head, name, value);
        return;
    }
    // RFC 9113, 8.2.1. Blanks around a value are allowed, because nghttp2 accepts them.
    if (!is_valid_name(name) || nc_ascii_has_control(value)) {
        head->is_not_valid = true;
        return;
    }
    if (is_named(name, "content-length")) {
        take_length(head, &reader->framing, name, value);
    }
    append_line(&head->lines, name, value);
}

static const char *quirk_of(const nc_h2_head *head) {
    return head->status < 200 && head->lengths > 0    ? "an interim response has a Content-Length"
           : head->lengths > 1 || head->has_list      ? "it repeats Content-Length"
           : head->status == 204 && head->lengths > 0 ? "it has status 204 and a Content-Length"
                                                      : NULL;
}

nc_status nc_h2_head_read(nc_h2_head *head, nc_hpack *hpack, nc_slice block) {
    block_reader reader = {.head = head};
    nc_buf lines = head->lines;
    nc_buf_reset(&lines);
    *head = (nc_h2_head){.lines = lines};
    nc_status status = nc_hpack_decode(hpack, block, take_field, &reader);
    nc_buf_append(&head->lines, nc_slice_of("\r\n"));
    bool is_valid =
        status == NC_OK && !head->is_not_valid && reader.framing.fault == NULL && nc_buf_status(&head->lines) == NC_OK;
    head->status = is_valid ? head->status : 0;
    head->length = reader.framing.length;
    head->has_length = reader.framing.has_length;
    head->quirk = head->status != 0 ? quirk_of(head) : NULL;
    return status;
}

/* --- responses --- */

nc_h2_response *nc_h2_response_new(const nc_h2_head *head) {
    nc_h2_response *response = nc_alloc_zeroed(1, sizeof *response);
    if (response != NULL) {
        response->heads = nc_buf_init(MAX_LINES_BYTES);
        response->body = nc_buf_init(MAX_BODY_BYTES);
        response->quirk = head->quirk;
        nc_h2_response_take_head(response, head);
    }
    return response;
}

void nc_h2_response_free(nc_h2_response *response) {
    if (response != NULL) {
        nc_buf_deinit(&response->heads);
        nc_buf_deinit(&response->body);
        nc_free(response);
    }
}

void nc_h2_response_take_head(nc_h2_response *response, const nc_h2_head *head) {
    if (response->status != 0 || head->status == 0 || head->status == 101) {
        // The block has trailers, which are not collected, or is invalid. HTTP/2 has no 101 (RFC 9113, 8.6).
        response->is_lost = true;
        return;
    }
    nc_buf_append(&response->heads, nc_buf_slice(&head->lines));
    response->is_lost = response->is_lost || nc_buf_status(&response->heads) != NC_OK;
    if (head->status >= 200) {
        response->status = head->status;
        response->has_length = head->has_length;
        response->length = head->length;
    }
}

uint8_t *nc_h2_response_take_content(nc_h2_response *response, size_t count) {
    if (response->status == 0 || nc_buf_reserve(&response->body, count) != NC_OK) {
        response->is_lost = true;
        return NULL;
    }
    uint8_t *content = response->body.data + response->body.length;
    response->body.length += count;
    return content;
}
