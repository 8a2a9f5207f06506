#include "net/h2_answer.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "net/framing.h"

#include <stdio.h>
#include <string.h>

/// Limits of the lines of a head, and of a body that arrives in one piece with it.
enum { MAX_LINES_BYTES = 256 << 10, MAX_BODY_BYTES = 1 << 20 };

nc_h2_head nc_h2_head_init(void) {
    return (nc_h2_head){.lines = nc_buf_init(MAX_LINES_BYTES)};
}

void nc_h2_head_deinit(nc_h2_head *head) {
    nc_buf_deinit(&head->lines);
}

/* --- heads --- */

static bool is_named(nc_slice name, const char *other) {
    return nc_slice_is_equal(name, nc_slice_of(other));
}

/// RFC 9113, 8.2.1 and 8.2.2: lower case, and no connection-specific field.
static bool is_valid_name(nc_slice name) {
    for (size_t i = 0; i < name.length; i++) {
        if (!nc_ascii_is_token(name.data[i]) || (name.data[i] >= 'A' && name.data[i] <= 'Z')) {
            return false;
        }
    }
    return name.length > 0 && !is_named(name, "connection") && !is_named(name, "keep-alive") &&
           !is_named(name, "proxy-connection") && !is_named(name, "transfer-encoding") && !is_named(name, "upgrade");
}

/// RFC 9113, 8.2.1; nghttp2 accepts blanks around a value.
static bool is_valid_value(nc_slice value) {
    for (size_t i = 0; i < value.length; i++) {
        if ((value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

/// RFC 9113, 8.3.2: the only pseudo-header field of a response, and its first field.
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
    if (!is_valid_name(name) || !is_valid_value(value)) {
        head->is_not_valid = true;
        return;
    }
    if (is_named(name, "content-length")) {
        take_length(head, &reader->framing, name, value);
    }
    nc_buf_append(&head->lines, name);
    nc_buf_append(&head->lines, nc_slice_of(": "));
    nc_buf_append(&head->lines, value);
    nc_buf_append(&head->lines, nc_slice_of("\r\n"));
}

static const char *quirk_of(const nc_h2_head *head) {
    return head->status < 200 && head->lengths > 0    ? "an interim response has a Content-Length"
           : head->lengths > 1 || head->has_list      ? "it repeats Content-Length"
           : head->status == 204 && head->lengths > 0 ? "it is a 204 with a Content-Length"
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

/* --- answers --- */

nc_h2_answer *nc_h2_answer_new(const nc_h2_head *head) {
    nc_h2_answer *answer = nc_alloc_zeroed(1, sizeof *answer);
    if (answer != NULL) {
        answer->heads = nc_buf_init(MAX_LINES_BYTES);
        answer->body = nc_buf_init(MAX_BODY_BYTES);
        answer->quirk = head->quirk;
        nc_h2_answer_take_head(answer, head);
    }
    return answer;
}

void nc_h2_answer_free(nc_h2_answer *answer) {
    if (answer != NULL) {
        nc_buf_deinit(&answer->heads);
        nc_buf_deinit(&answer->body);
        nc_free(answer);
    }
}

void nc_h2_answer_take_head(nc_h2_answer *answer, const nc_h2_head *head) {
    if (answer->status != 0 || head->status == 0 || head->status == 101) {
        answer->is_lost = true; // Trailers are not collected. HTTP/2 has no 101 (RFC 9113, 8.6).
        return;
    }
    nc_buf_append(&answer->heads, nc_buf_slice(&head->lines));
    answer->is_lost = answer->is_lost || nc_buf_status(&answer->heads) != NC_OK;
    if (head->status >= 200) {
        answer->status = head->status;
        answer->has_length = head->has_length;
        answer->length = head->length;
    }
}

uint8_t *nc_h2_answer_take_content(nc_h2_answer *answer, size_t count) {
    if (answer->status == 0 || nc_buf_reserve(&answer->body, count) != NC_OK) {
        answer->is_lost = true;
        return NULL;
    }
    uint8_t *place = answer->body.data + answer->body.length;
    answer->body.length += count;
    return place;
}
