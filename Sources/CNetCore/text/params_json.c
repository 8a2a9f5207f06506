#include "base/error.h"

#include <netcore/json.h>
#include <netcore/params.h>

/// Builds a tree from JSON tokens.
typedef struct tree_builder {
    nc_params *params;
    /// The name of the next value, still escaped.
    nc_json_token name;
    /// Buffers for an unescaped name and an unescaped string.
    nc_buf name_text;
    nc_buf value_text;
    bool has_root;
    bool has_bad_root;
} tree_builder;

static nc_slice plain_text(nc_buf *room, const nc_json_token *token) {
    if (!token->has_escapes) {
        return token->text;
    }
    nc_buf_reset(room);
    nc_json_unescape(room, token->text);
    return nc_buf_slice(room);
}

static bool begin_root(tree_builder *in, nc_json_kind kind) {
    in->has_root = true;
    in->has_bad_root = kind != NC_JSON_OBJECT && kind != NC_JSON_ARRAY;
    nc_params_reset(in->params, kind == NC_JSON_ARRAY ? NC_PARAMS_ARRAY : NC_PARAMS_OBJECT);
    return !in->has_bad_root;
}

static void end_container(nc_params *params) {
    // The root has no end node.
    if (params->depth > 1) {
        nc_params_end(params);
    }
}

static void add_value(tree_builder *in, const nc_json_token *token) {
    nc_params *params = in->params;
    nc_slice name = plain_text(&in->name_text, &in->name);
    switch (token->kind) {
    case NC_JSON_OBJECT:
        nc_params_begin(params, name, NC_PARAMS_OBJECT);
        break;
    case NC_JSON_ARRAY:
        nc_params_begin(params, name, NC_PARAMS_ARRAY);
        break;
    case NC_JSON_STRING:
        nc_params_add_string(params, name, plain_text(&in->value_text, token));
        break;
    case NC_JSON_NUMBER:
        nc_params_add_number(params, name, token->text);
        break;
    case NC_JSON_TRUE:
    case NC_JSON_FALSE:
        nc_params_add_boolean(params, name, token->kind == NC_JSON_TRUE);
        break;
    default:
        nc_params_add_null(params, name);
    }
    // The name was that of this value only. Values of an array have no names.
    in->name = (nc_json_token){0};
}

static bool take_token(void *ctx, const nc_json_token *token) {
    tree_builder *in = ctx;
    if (!in->has_root) {
        return begin_root(in, token->kind);
    }
    switch (token->kind) {
    case NC_JSON_NAME:
        in->name = *token;
        return true;
    case NC_JSON_OBJECT_END:
    case NC_JSON_ARRAY_END:
        end_container(in->params);
        break;
    default:
        add_value(in, token);
    }
    // If an allocation failed, the added text was truncated, so the tree must have an error too.
    nc_status lost = in->name_text.status != NC_OK ? in->name_text.status : in->value_text.status;
    if (lost != NC_OK && in->params->nodes.status == NC_OK) {
        in->params->nodes.status = lost;
    }
    return in->params->nodes.status == NC_OK;
}

nc_status nc_params_parse_json(nc_params *params, nc_slice text, nc_error *err) {
    if (params == NULL || (text.data == NULL && text.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the parameters or the text is NULL");
    }
    const nc_json_options options = {.max_depth = NC_PARAMS_MAX_DEPTH};
    tree_builder in = {.params = params, .name_text = nc_buf_init(text.length), .value_text = nc_buf_init(text.length)};
    nc_status status = nc_json_read(text, &options, take_token, &in, NULL, err);
    if (status == NC_ERR_STOPPED_BY_CALLER && in.has_bad_root) {
        status = nc_error_set(err, NC_ERR_BAD_JSON, 0, err != NULL ? err->offset : -1,
                              "the JSON text must be an object or an array, not a single value");
    } else if (status == NC_ERR_STOPPED_BY_CALLER) {
        status = params->nodes.status;
        status =
            nc_error_set(err, status, 0, err != NULL ? err->offset : -1, "the parameters: %s", nc_status_text(status));
    }
    if (status != NC_OK) {
        // Discard the incomplete tree and keep the error.
        nc_params_reset(params, NC_PARAMS_OBJECT);
        params->nodes.status = status;
    }
    nc_buf_deinit(&in.name_text);
    nc_buf_deinit(&in.value_text);
    return status == NC_OK ? nc_error_clear(err) : status;
}
