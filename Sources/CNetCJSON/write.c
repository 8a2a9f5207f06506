#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// Trees of cJSON as JSON text.
#include "internal.h"

#include <math.h>
#include <string.h>

typedef struct writer {
    nc_buf text;
    nc_error *err;
} writer;

static nc_status write_item(writer *w, const cJSON *item, unsigned depth);

static void write_string(nc_buf *out, const char *text) {
    static const char digits[] = "0123456789abcdef";
    static const char shorts[] = "btn?fr"; // the escapes of U+0008 to U+000D; U+000B has none
    nc_buf_append_byte(out, '"');
    for (const char *at = text; *at != '\0';) {
        const char *from = at;
        while ((uint8_t)*at >= 0x20 && *at != '"' && *at != '\\') {
            at++;
        }
        nc_buf_append(out, nc_slice_make(from, (size_t)(at - from)));
        uint8_t byte = (uint8_t)*at;
        if (byte == '\0') {
            break;
        }
        at++;
        nc_buf_append_byte(out, '\\');
        if (byte == '"' || byte == '\\') {
            nc_buf_append_byte(out, byte);
        } else if (byte >= 0x08 && byte <= 0x0d && byte != 0x0b) {
            nc_buf_append_byte(out, (uint8_t)shorts[byte - 0x08]);
        } else {
            nc_buf_append(out, nc_slice_of("u00"));
            nc_buf_append_byte(out, (uint8_t)digits[byte >> 4]);
            nc_buf_append_byte(out, (uint8_t)digits[byte & 15]);
        }
    }
    nc_buf_append_byte(out, '"');
}

static nc_status write_number(writer *w, double value) {
    if (!isfinite(value)) {
        return nc_cjson_fail(w->err, NC_ERR_BAD_PARAMETER, -1, "a number of the tree is not finite");
    }
    nc_cjson_append_number(&w->text, value);
    return NC_OK;
}

/// Writes the children of an array or an object.
static nc_status write_children(writer *w, const cJSON *container, unsigned depth) {
    bool is_object = cJSON_IsObject(container);
    nc_buf_append_byte(&w->text, is_object ? '{' : '[');
    for (const cJSON *child = container->child; child != NULL; child = child->next) {
        if (is_object) {
            if (child->string == NULL) {
                return nc_cjson_fail(w->err, NC_ERR_BAD_PARAMETER, -1, "a member of an object has no name");
            }
            write_string(&w->text, child->string);
            nc_buf_append_byte(&w->text, ':');
        }
        nc_status status = write_item(w, child, depth + 1);
        if (status != NC_OK || nc_buf_status(&w->text) != NC_OK) {
            return status;
        }
        if (child->next != NULL) {
            nc_buf_append_byte(&w->text, ',');
        }
    }
    nc_buf_append_byte(&w->text, is_object ? '}' : ']');
    return NC_OK;
}

static nc_status write_item(writer *w, const cJSON *item, unsigned depth) {
    if (depth > NC_CJSON_MAX_DEPTH) {
        return nc_cjson_fail(w->err, NC_ERR_TOO_LARGE, -1, "the tree is deeper than %u", NC_CJSON_MAX_DEPTH);
    }
    bool has_text = (item->type & 0xff) == cJSON_String || (item->type & 0xff) == cJSON_Raw;
    if (has_text && item->valuestring == NULL) {
        return nc_cjson_fail(w->err, NC_ERR_BAD_PARAMETER, -1, "a string of the tree has no text");
    }
    switch (item->type & 0xff) {
    case cJSON_False:
        nc_buf_append(&w->text, nc_slice_of("false"));
        return NC_OK;
    case cJSON_True:
        nc_buf_append(&w->text, nc_slice_of("true"));
        return NC_OK;
    case cJSON_NULL:
        nc_buf_append(&w->text, nc_slice_of("null"));
        return NC_OK;
    case cJSON_Number:
        return write_number(w, item->valuedouble);
    case cJSON_String:
        write_string(&w->text, item->valuestring);
        return NC_OK;
    case cJSON_Raw: {
        // Checked alone: a text such as "1,2" could make the whole valid.
        nc_status status = nc_json_check(nc_slice_of(item->valuestring), NULL, NULL, NULL);
        if (status != NC_OK) {
            return nc_cjson_fail(w->err, status == NC_ERR_BAD_JSON ? NC_ERR_BAD_PARAMETER : status, -1,
                                 "a cJSON_Raw of the tree is not JSON");
        }
        nc_buf_append(&w->text, nc_slice_of(item->valuestring));
        return NC_OK;
    }
    case cJSON_Array:
    case cJSON_Object:
        return write_children(w, item, depth);
    default:
        return nc_cjson_fail(w->err, NC_ERR_BAD_PARAMETER, -1, "an item of the tree has no type");
    }
}

/// Writes a tree into `w->text`.
static nc_status write_tree(writer *w, const cJSON *tree) {
    nc_status status = write_item(w, tree, 1);
    if (status == NC_OK && nc_buf_status(&w->text) != NC_OK) {
        status = nc_cjson_fail(w->err, nc_buf_status(&w->text), -1, "%s", nc_status_text(nc_buf_status(&w->text)));
    }
    if (status != NC_OK) {
        return status;
    }
    nc_json_options options = {.max_depth = 2 * NC_CJSON_MAX_DEPTH}; // a cJSON_Raw may add its own
    nc_json_failure failure;
    status = nc_json_check(nc_buf_slice(&w->text), &options, &failure, NULL);
    if (status == NC_OK) {
        return NC_OK;
    }
    return nc_cjson_fail(w->err, status == NC_ERR_BAD_JSON ? NC_ERR_BAD_PARAMETER : status, -1,
                         failure.fault == NC_JSON_FAULT_UTF8 ? "a text of the tree is not valid UTF-8"
                                                             : "the tree cannot be written as JSON");
}

nc_status nc_cjson_write(nc_buf *out, const cJSON *tree, nc_error *err) {
    writer w = {.text = nc_buf_init(out->max_bytes), .err = err};
    nc_status status = write_tree(&w, tree);
    if (status == NC_OK) {
        status = nc_buf_reserve(out, w.text.length);
        nc_buf_append(out, nc_buf_slice(&w.text));
        if (status != NC_OK) {
            nc_cjson_fail(err, status, -1, "%s", nc_status_text(status));
        }
    }
    nc_buf_deinit(&w.text);
    return status == NC_OK ? nc_cjson_succeed(err) : status;
}

nc_status nc_cjson_matches(const cJSON *tree, nc_shape *shape, const nc_shape_options *options, nc_error *err) {
    writer w = {.text = nc_buf_init(SIZE_MAX), .err = err};
    nc_status status = write_tree(&w, tree);
    if (status == NC_OK) {
        nc_json_options limits = {.max_depth = 2 * NC_CJSON_MAX_DEPTH};
        status = nc_shape_check(shape, nc_buf_slice(&w.text), options, &limits, err);
        if (status != NC_OK && err != NULL) {
            err->offset = -1; // it would refer to a text that the caller does not have
        }
    }
    nc_buf_deinit(&w.text);
    return status;
}
#endif
