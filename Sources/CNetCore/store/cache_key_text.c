#include "base/error.h"
#include "base/utf8.h"
#include "store/canonical_form.h"

#include <stdio.h>
#include <string.h>

/// The state of reading a canonical form.
typedef struct reader {
    nc_slice rest;
    uint32_t depth;
    /// True after the first violation of the layout. Reading then stops.
    bool has_failed;
} reader;

static void fail(reader *in) {
    in->has_failed = true;
}

static uint8_t take_byte(reader *in) {
    if (in->rest.length == 0) {
        fail(in);
        return 0;
    }
    uint8_t byte = in->rest.data[0];
    in->rest = nc_slice_make(in->rest.data + 1, in->rest.length - 1);
    return byte;
}

static nc_slice take(reader *in, size_t length) {
    if (in->has_failed || length > in->rest.length) {
        fail(in);
        return nc_slice_make(NULL, 0);
    }
    nc_slice taken = nc_slice_make(in->rest.data, length);
    in->rest = nc_slice_make(in->rest.data + length, in->rest.length - length);
    return taken;
}

static nc_slice take_text(reader *in) {
    uint32_t length = 0;
    size_t prefix = in->has_failed ? 0 : nc_canonical_form_length(&length, in->rest);
    if (prefix == 0) {
        fail(in);
        return nc_slice_make(NULL, 0);
    }
    (void)take(in, prefix);
    return take(in, length);
}

/// Reads a container's length and content.
static nc_slice take_content(reader *in) {
    nc_slice head = take(in, CONTAINER_HEAD_BYTES - 1);
    if (in->has_failed) {
        return head;
    }
    return take(in, (size_t)head.data[0] << 24 | (size_t)head.data[1] << 16 | (size_t)head.data[2] << 8 | head.data[3]);
}

static void put(nc_buf *out, const char *text) {
    nc_buf_append(out, nc_slice_of(text));
}

/// Writes a text quoted as in JSON. Bytes that are not UTF-8, and C1 control characters, are written as \x and two
/// digits. JSON has no such escape, so they cannot be confused with text.
static void put_quoted(nc_buf *out, nc_slice text) {
    char escaped[8];
    nc_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.length;) {
        uint8_t c = text.data[i];
        size_t step = nc_utf8_sequence(text.data + i, text.length - i);
        bool is_control = c < ' ' || c == 0x7F || (step == 2 && c == 0xC2 && text.data[i + 1] < 0xA0);
        if (step == 0 || (is_control && step == 2)) {
            (void)snprintf(escaped, sizeof escaped, "\\x%02x", c);
            put(out, escaped);
            step = 1;
        } else if (is_control) {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", c);
            put(out, escaped);
        } else {
            if (c == '"' || c == '\\') {
                nc_buf_append_byte(out, '\\');
            }
            nc_buf_append(out, nc_slice_make(text.data + i, step));
        }
        i += step;
    }
    nc_buf_append_byte(out, '"');
}

static void put_hex(nc_buf *out, nc_slice bytes) {
    put(out, "bytes(");
    nc_hex_encode(out, bytes);
    put(out, ")");
}

static void explain_value(nc_buf *out, reader *in);

static void explain_container(nc_buf *out, reader *in, canonical_tag tag) {
    const char *ends = tag == TAG_OBJECT ? "{}" : tag == TAG_ARRAY ? "[]" : "()";
    reader inner = {.rest = take_content(in), .depth = in->depth + 1};
    inner.has_failed = in->has_failed || inner.depth > NC_PARAMS_MAX_DEPTH;
    if (tag == TAG_SET) {
        put(out, "set");
    }
    nc_buf_append_byte(out, (uint8_t)ends[0]);
    for (bool is_first = true; inner.rest.length > 0 && !inner.has_failed; is_first = false) {
        if (!is_first) {
            put(out, ", ");
        }
        if (tag == TAG_OBJECT) {
            put_quoted(out, take_text(&inner));
            put(out, ": ");
        }
        explain_value(out, &inner);
    }
    nc_buf_append_byte(out, (uint8_t)ends[1]);
    in->has_failed = inner.has_failed;
}

static void explain_value(nc_buf *out, reader *in) {
    canonical_tag tag = (canonical_tag)take_byte(in);
    switch (tag) {
    case TAG_NULL:
        put(out, "null");
        break;
    case TAG_TRUE:
        put(out, "true");
        break;
    case TAG_FALSE:
        put(out, "false");
        break;
    case TAG_NUMBER:
        nc_buf_append(out, take_text(in));
        break;
    case TAG_STRING:
        put_quoted(out, take_text(in));
        break;
    case TAG_BYTES:
        put_hex(out, take_text(in));
        break;
    case TAG_OBJECT:
    case TAG_ARRAY:
    case TAG_SET:
        explain_container(out, in, tag);
        break;
    default:
        fail(in);
    }
}

static void explain_headers(nc_buf *out, reader *in) {
    reader inner = {.rest = take_content(in)};
    inner.has_failed = in->has_failed;
    while (inner.rest.length > 0 && !inner.has_failed) {
        put(out, "field       ");
        nc_buf_append(out, take_text(&inner));
        put(out, ": ");
        put_quoted(out, take_text(&inner));
        put(out, "\n");
    }
    in->has_failed = inner.has_failed;
}

/// Writes the body as quoted text if it is UTF-8, otherwise in hexadecimal.
static void put_body(nc_buf *out, nc_slice bytes) {
    char length[32];
    (void)snprintf(length, sizeof length, "%zu bytes ", bytes.length);
    put(out, length);
    if (nc_utf8_span(bytes.data, bytes.length) == bytes.length) {
        put_quoted(out, bytes);
    } else {
        put_hex(out, bytes);
    }
}

static void explain_part(nc_buf *out, reader *in, canonical_tag tag) {
    switch (tag) {
    case TAG_METHOD:
        put(out, "method      ");
        nc_buf_append(out, take_text(in));
        break;
    case TAG_URL:
        put(out, "url         ");
        nc_buf_append(out, take_text(in));
        break;
    case TAG_HEADERS:
        explain_headers(out, in);
        return;
    case TAG_PARAMETERS:
        put(out, "parameters  ");
        explain_value(out, in);
        break;
    case TAG_BODY:
        put(out, "body        ");
        put_body(out, take_text(in));
        break;
    case TAG_SCOPE:
        put(out, "user        ");
        put_quoted(out, take_text(in));
        break;
    default:
        fail(in);
    }
    put(out, "\n");
}

/// Reads the parts of a request in their fixed order. Method and URL must be present.
static void explain_parts(nc_buf *out, reader *in) {
    static const uint8_t order[] = {TAG_METHOD, TAG_URL, TAG_HEADERS, TAG_PARAMETERS, TAG_BODY, TAG_SCOPE};
    for (size_t i = 0; i < sizeof order && !in->has_failed; i++) {
        bool is_next = in->rest.length > 0 && in->rest.data[0] == order[i];
        if (is_next) {
            (void)take_byte(in);
            explain_part(out, in, (canonical_tag)order[i]);
        } else if (i < 2) {
            fail(in);
        }
    }
    if (in->rest.length > 0) {
        fail(in);
    }
}

nc_status nc_cache_key_explain(nc_buf *out, nc_slice description, nc_error *err) {
    if (out == NULL || (description.data == NULL && description.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    if (description.length < CANONICAL_FORM_HEAD_BYTES || memcmp(description.data, "NK", 2) != 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, 0, "the bytes are not the canonical form of a request");
    }
    if (description.data[2] != NC_CACHE_KEY_VERSION) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, 2,
                            "the canonical form has version %u, but version %u is required", description.data[2],
                            NC_CACHE_KEY_VERSION);
    }
    size_t length_before = out->length;
    reader in = {.rest = description};
    (void)take(&in, CANONICAL_FORM_HEAD_BYTES);
    explain_parts(out, &in);
    nc_status status = in.has_failed ? NC_ERR_USAGE : out->status;
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    out->length = length_before;
    size_t at = description.length - in.rest.length;
    return in.has_failed ? nc_error_set(err, status, 0, (int64_t)at, "the canonical form is incomplete or malformed")
                         : nc_error_set(err, status, 0, -1, "cannot store the text: %s", nc_status_text(status));
}
