#include <netcore/multipart.h>

#include "base/error.h"
#include "body/multipart.h"

typedef struct filling {
    nc_multipart *form;
    bool writes_words; // for booleans; AFNetworking writes digits, like NSNumber's description
} filling;

static nc_slice text_of(const filling *at, const nc_params_item *value, nc_params_digits *digits) {
    bool is_digit = value->kind == NC_PARAMS_BOOLEAN && !at->writes_words;
    return is_digit ? nc_slice_of(value->boolean ? "1" : "0") : nc_params_text(value, digits);
}

/// Adds an array's values, joined by commas. None of them is a container.
static nc_status add_joined(const filling *at, nc_slice name, const nc_params_item *array, nc_error *err) {
    nc_buf joined = nc_buf_init(at->form->text.max_bytes);
    nc_params_cursor cursor = nc_params_children(array);
    nc_params_item item;
    nc_params_digits digits;
    bool is_first = true;
    while (nc_params_next(&cursor, &item)) {
        nc_buf_append(&joined, nc_slice_of(is_first ? "" : ","));
        nc_buf_append(&joined, text_of(at, &item, &digits));
        is_first = false;
    }
    nc_status status = nc_buf_status(&joined);
    status = status == NC_OK ? nc_multipart_add_field(at->form, name, nc_buf_slice(&joined), err)
                             : nc_error_set(err, status, 0, -1, "no room for a list: %s", nc_status_text(status));
    nc_buf_deinit(&joined);
    return status;
}

static nc_status add_one(void *ctx, nc_slice name, const nc_params_item *value, nc_error *err) {
    const filling *at = ctx;
    nc_params_digits digits;
    return value->kind == NC_PARAMS_ARRAY ? add_joined(at, name, value, err)
                                          : nc_multipart_add_field(at->form, name, text_of(at, value, &digits), err);
}

nc_status nc_multipart_add_params(nc_multipart *form, const nc_params *params, const nc_query_options *options,
                                  nc_error *err) {
    size_t length = form->text.length;
    size_t count = form->count;
    filling at = {form, options != NULL && options->booleans == NC_BOOLEANS_WORDS};
    nc_status status = nc_params_flatten(params, options != NULL ? &options->names : NULL, add_one, &at, err);
    if (status != NC_OK) {
        form->text.length = length; // fields are only text, so this removes them
        form->count = count;
        return status;
    }
    return nc_error_clear(err);
}
