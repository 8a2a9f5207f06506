#include "base/error.h"
#include "base/utf8.h"
#include "text/order.h"
#include "text/params.h"

#include <netcore/json_writer.h>
#include <stdio.h>

/// A node of the path to the current value. The nodes are on the stack of the recursion.
typedef struct path_node {
    const struct path_node *outer;
    nc_slice name;
    size_t index;
    /// True if the value is an element of an array.
    bool is_indexed;
} path_node;

typedef struct json_text {
    nc_buf *out;
    nc_json_style style;
    nc_error *err;
    size_t depth;
} json_text;

static void append(nc_buf *out, const char *text) {
    nc_buf_append(out, nc_slice_of(text));
}

/// Appends a path, the outermost component first. It is truncated at the maximum of `path`.
static void append_path(nc_buf *path, const path_node *at) {
    if (at->outer != NULL) {
        append_path(path, at->outer);
        if (at->is_indexed) {
            char index[32];
            (void)snprintf(index, sizeof index, "[%zu]", at->index);
            append(path, index);
        } else {
            append(path, path->length > 0 ? "." : "");
            nc_buf_append(path, at->name);
        }
    }
}

static nc_status refuse(json_text *in, const path_node *at, int64_t offset, const char *what) {
    nc_buf path = nc_buf_init(NC_ERROR_MESSAGE_BYTES);
    append_path(&path, at);
    nc_status status = nc_value_refuse(nc_buf_slice(&path), what, offset, in->err);
    nc_buf_deinit(&path);
    return status;
}

static void append_escape(nc_buf *out, uint8_t c) {
    static const char digits[] = "0123456789abcdef";
    char text[7] = {'\\', (char)c, 0};
    switch (c) {
    case '\b':
        text[1] = 'b';
        break;
    case '\f':
        text[1] = 'f';
        break;
    case '\n':
        text[1] = 'n';
        break;
    case '\r':
        text[1] = 'r';
        break;
    case '\t':
        text[1] = 't';
        break;
    case '"':
    case '\\':
    case '/':
        break;
    default:
        (void)snprintf(text, sizeof text, "\\u00%c%c", digits[c >> 4], digits[c & 15]);
    }
    append(out, text);
}

static nc_status put_string(json_text *in, const path_node *at, nc_slice text, const char *complaint) {
    size_t valid = nc_utf8_span(text.data, text.length);
    if (valid < text.length) {
        return refuse(in, at, (int64_t)valid, complaint);
    }
    nc_buf *out = in->out;
    size_t start = 0;
    nc_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c >= ' ' && c != '"' && c != '\\' && (c != '/' || in->style.keeps_slashes)) {
            continue;
        }
        nc_buf_append(out, nc_slice_make(text.data + start, i - start));
        append_escape(out, c);
        start = i + 1;
    }
    if (start < text.length) {
        nc_buf_append(out, nc_slice_make(text.data + start, text.length - start));
    }
    nc_buf_append_byte(out, '"');
    return NC_OK;
}

static nc_status put_number(json_text *in, const path_node *at, const nc_params_item *item) {
    nc_params_digits digits;
    nc_slice text = nc_params_text(item, &digits);
    if (text.length == 0 || (item->kind == NC_PARAMS_NUMBER && !nc_number_is_valid(text))) {
        return refuse(in, at, -1,
                      item->kind == NC_PARAMS_DOUBLE ? "the number is not finite" : "the number is not valid");
    }
    nc_buf_append(in->out, text);
    return NC_OK;
}

static nc_status put_value(json_text *in, const path_node *at, const nc_params_item *item);

static void begin_line(json_text *in) {
    if (!in->style.is_pretty) {
        return;
    }
    append(in->out, "\n");
    for (size_t i = 0; i < in->depth; i++) {
        append(in->out, "  ");
    }
}

static nc_status put_child(json_text *in, const path_node *at, const nc_params_item *child) {
    if (at->index > 0) {
        append(in->out, ",");
    }
    begin_line(in);
    if (!at->is_indexed) {
        nc_status status = put_string(in, at, child->name, "the name is not UTF-8");
        if (status != NC_OK) {
            return status;
        }
        append(in->out, in->style.is_pretty ? ": " : ":");
    }
    return put_value(in, at, child);
}

/// The recursion is at most NC_PARAMS_MAX_DEPTH deep.
static nc_status put_container(json_text *in, const path_node *at, const nc_params_item *item) {
    bool is_object = item->kind == NC_PARAMS_OBJECT;
    nc_ordered children;
    nc_status status = nc_ordered_init(&children, item, is_object && in->style.is_sorted);
    if (status != NC_OK) {
        return nc_error_set(in->err, status, 0, -1, "no memory to sort names");
    }
    append(in->out, is_object ? "{" : "[");
    in->depth++;
    path_node inner = {.outer = at, .is_indexed = !is_object};
    nc_params_item child;
    for (; status == NC_OK && nc_ordered_next(&children, &child); inner.index++) {
        inner.name = child.name;
        status = put_child(in, &inner, &child);
    }
    nc_ordered_deinit(&children);
    in->depth--;
    if (inner.index > 0) {
        begin_line(in);
    }
    append(in->out, is_object ? "}" : "]");
    return status;
}

static nc_status put_value(json_text *in, const path_node *at, const nc_params_item *item) {
    switch (item->kind) {
    case NC_PARAMS_NULL:
        append(in->out, "null");
        return NC_OK;
    case NC_PARAMS_BOOLEAN:
        append(in->out, item->boolean ? "true" : "false");
        return NC_OK;
    case NC_PARAMS_INTEGER:
    case NC_PARAMS_DOUBLE:
    case NC_PARAMS_NUMBER:
        return put_number(in, at, item);
    case NC_PARAMS_STRING:
        return put_string(in, at, item->content, "the text is not UTF-8");
    case NC_PARAMS_OBJECT:
    case NC_PARAMS_ARRAY:
        return put_container(in, at, item);
    case NC_PARAMS_BYTES:
        return refuse(in, at, -1, "bytes, which JSON cannot represent");
    case NC_PARAMS_SET:
        return refuse(in, at, -1, "a set, which JSON cannot represent");
    }
    return refuse(in, at, -1, "a value of an unknown kind");
}

nc_status nc_json_write(nc_buf *out, const nc_params *params, const nc_json_style *style, nc_error *err) {
    static const nc_json_style plain = {.is_sorted = false};
    if (out == NULL || params == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or the parameters are NULL");
    }
    nc_status status = nc_params_status(params);
    if (status != NC_OK) {
        return nc_error_set(err, status, 0, -1, "the parameters are incomplete: %s", nc_status_text(status));
    }
    size_t length_before = out->length;
    json_text in = {.out = out, .style = style != NULL ? *style : plain, .err = err};
    nc_params_item root = nc_params_root(params);
    status = put_value(&in, &(path_node){0}, &root);
    if (status == NC_OK && out->status != NC_OK) {
        status = nc_error_set(err, out->status, 0, -1, "cannot store the JSON text: %s", nc_status_text(out->status));
    }
    if (status != NC_OK) {
        out->length = length_before;
        return status;
    }
    return nc_error_clear(err);
}
