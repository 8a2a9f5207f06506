#include "base/error.h"

#include <netcore/percent.h>
#include <netcore/query.h>
#include <string.h>

/// A query that is being written.
typedef struct writer {
    nc_buf *out;
    /// True after the first pair. The length of `out` does not show that, because a pair with an empty name and no
    /// value appends nothing.
    bool has_pair;
    nc_boolean_style booleans;
    nc_percent_style percent;
} writer;

static void append_value(const writer *in, const nc_params_item *value) {
    nc_params_digits digits;
    if (value->kind == NC_PARAMS_BOOLEAN && in->booleans == NC_BOOLEANS_NUMBERS) {
        nc_buf_append_byte(in->out, value->boolean ? '1' : '0');
    } else {
        nc_percent_append(in->out, nc_params_text(value, &digits), in->percent);
    }
}

static void append_joined(const writer *in, const nc_params_item *array) {
    nc_params_cursor cursor = nc_params_children(array);
    nc_params_item item;
    for (bool is_first = true; nc_params_next(&cursor, &item); is_first = false) {
        if (!is_first) {
            nc_buf_append_byte(in->out, ',');
        }
        append_value(in, &item);
    }
}

static nc_status append_pair(void *ctx, nc_slice name, const nc_params_item *value, nc_error *err) {
    writer *in = ctx;
    if (in->has_pair) {
        nc_buf_append_byte(in->out, '&');
    } else if (name.length > 0 && name.data[0] == '?') {
        // URLSearchParams, in browsers and Node.js, drops a '?' at the start of a query.
        nc_buf_append(in->out, nc_slice_of("%3F"));
        name = nc_slice_make(name.data + 1, name.length - 1);
    }
    in->has_pair = true;
    nc_percent_append(in->out, name, in->percent);
    if (value->kind != NC_PARAMS_NULL) {
        nc_buf_append_byte(in->out, '=');
    }
    if (value->kind == NC_PARAMS_ARRAY) {
        append_joined(in, value);
    } else {
        append_value(in, value);
    }
    nc_status status = nc_buf_status(in->out);
    return status == NC_OK ? NC_OK : nc_error_set(err, status, 0, -1, "the query: %s", nc_status_text(status));
}

static nc_status append_by_caller(nc_buf *out, const nc_params *params, const nc_query_options *options,
                                  nc_error *err) {
    nc_status status = nc_params_status(params);
    if (status != NC_OK) {
        return nc_error_set(err, status, 0, -1, "the parameters: %s", nc_status_text(status));
    }
    (void)nc_error_clear(err);
    status = options->encode(options->ctx, out, params, err);
    status = status == NC_OK ? nc_buf_status(out) : status;
    if (status != NC_OK && err != NULL && err->status != status) {
        (void)nc_error_set(err, status, 0, -1, "the query: %s", nc_status_text(status));
    }
    return status;
}

nc_status nc_query_append(nc_buf *out, const nc_params *params, const nc_query_options *options, nc_error *err) {
    static const nc_query_options defaults = {.encode = NULL};
    options = options != NULL ? options : &defaults;
    if (out == NULL || params == NULL || (unsigned)options->booleans > NC_BOOLEANS_WORDS ||
        (unsigned)options->spaces > NC_SPACES_PLUS) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "an argument is missing or an option out of range");
    }
    size_t start = out->length;
    nc_status status = NC_OK;
    if (options->encode != NULL) {
        status = append_by_caller(out, params, options, err);
    } else {
        nc_percent_style percent = options->spaces == NC_SPACES_PLUS ? NC_PERCENT_QUERY_PLUS : NC_PERCENT_QUERY;
        writer in = {out, false, options->booleans, percent};
        status = nc_params_flatten(params, &options->names, append_pair, &in, err);
    }
    if (status != NC_OK) {
        out->length = start;
        return status;
    }
    return nc_error_clear(err);
}

/// Returns the offset of the first byte that would end the query or the request line; the length of the query if there
/// is none.
static size_t find_forbidden(nc_slice query) {
    size_t at = 0;
    while (at < query.length && query.data[at] > ' ' && query.data[at] != '#' && query.data[at] != 0x7F) {
        at++;
    }
    return at;
}

static size_t find_byte(nc_slice text, uint8_t byte) {
    const uint8_t *found = text.length == 0 ? NULL : memchr(text.data, byte, text.length);
    return found == NULL ? text.length : (size_t)(found - text.data);
}

nc_status nc_query_attach(nc_buf *out, nc_slice url, nc_slice query, nc_error *err) {
    size_t forbidden = find_forbidden(query);
    if (forbidden < query.length) {
        return nc_error_set(err, NC_ERR_BAD_PARAMETER, 0, (int64_t)forbidden,
                            "forbidden byte 0x%02x in the query at byte %zu", query.data[forbidden], forbidden);
    }
    size_t fragment = find_byte(url, '#');
    nc_slice before = nc_slice_make(url.data, fragment);
    size_t mark = find_byte(before, '?');
    bool has_query = mark + 1 < fragment;
    if (mark + 1 == fragment) {
        before.length = mark;
    }
    size_t start = out->length;
    nc_buf_append(out, before);
    if (query.length > 0) {
        nc_buf_append_byte(out, has_query ? '&' : '?');
        nc_buf_append(out, query);
    }
    if (fragment < url.length) {
        nc_buf_append(out, nc_slice_make(url.data + fragment, url.length - fragment));
    }
    nc_status status = nc_buf_status(out);
    if (status != NC_OK) {
        out->length = start;
        return nc_error_set(err, status, 0, -1, "cannot store the URL with its query: %s", nc_status_text(status));
    }
    return nc_error_clear(err);
}
