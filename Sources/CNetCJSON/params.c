#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// Trees of cJSON as request parameters.
#include "internal.h"

#include <math.h>

/// Adds the tokens of a cJSON_Raw.
typedef struct raw_adder {
    nc_params *params;
    nc_slice name; // of the value itself
    nc_buf text;   // a name or string without escapes
    nc_buf member; // the name of the next member
    size_t depth;
} raw_adder;

static nc_slice unescaped(nc_buf *out, const nc_json_token *token) {
    nc_buf_reset(out);
    nc_json_unescape(out, token->text);
    return nc_buf_slice(out);
}

static bool add_token(void *ctx, const nc_json_token *token) {
    raw_adder *adder = ctx;
    nc_slice name = adder->depth == 0 ? adder->name : nc_buf_slice(&adder->member);
    switch (token->kind) {
    case NC_JSON_OBJECT:
    case NC_JSON_ARRAY:
        nc_params_begin(adder->params, name, token->kind == NC_JSON_OBJECT ? NC_PARAMS_OBJECT : NC_PARAMS_ARRAY);
        adder->depth++;
        break;
    case NC_JSON_OBJECT_END:
    case NC_JSON_ARRAY_END:
        nc_params_end(adder->params);
        adder->depth--;
        break;
    case NC_JSON_NAME:
        (void)unescaped(&adder->member, token);
        break;
    case NC_JSON_STRING:
        nc_params_add_string(adder->params, name, unescaped(&adder->text, token));
        break;
    case NC_JSON_NUMBER:
        nc_params_add_number(adder->params, name, token->text);
        break;
    case NC_JSON_TRUE:
    case NC_JSON_FALSE:
        nc_params_add_boolean(adder->params, name, token->kind == NC_JSON_TRUE);
        break;
    case NC_JSON_NULL:
        nc_params_add_null(adder->params, name);
        break;
    }
    return nc_buf_status(&adder->text) == NC_OK && nc_buf_status(&adder->member) == NC_OK;
}

static nc_status add_raw(nc_params *params, nc_slice name, const cJSON *item, nc_error *err) {
    raw_adder adder = {params, name, nc_buf_init(SIZE_MAX), nc_buf_init(SIZE_MAX), 0};
    nc_status status = nc_json_read(nc_slice_of(item->valuestring), NULL, add_token, &adder, NULL, NULL);
    nc_buf_deinit(&adder.text);
    nc_buf_deinit(&adder.member);
    if (status == NC_ERR_BAD_JSON) {
        return nc_cjson_fail(err, NC_ERR_BAD_PARAMETER, -1, "a cJSON_Raw of the tree is not JSON");
    }
    if (status == NC_ERR_STOPPED_BY_CALLER) {
        status = NC_ERR_NO_MEMORY;
    }
    return status == NC_OK ? NC_OK : nc_cjson_fail(err, status, -1, "%s", nc_status_text(status));
}

static nc_status add_number(nc_params *params, nc_slice name, double value, nc_error *err) {
    if (!isfinite(value)) {
        return nc_cjson_fail(err, NC_ERR_BAD_PARAMETER, -1, "a number of the tree is not finite");
    }
    if (fabs(value) <= NC_CJSON_MAX_EXACT) {
        nc_params_add_double(params, name, value);
        return NC_OK;
    }
    nc_buf text = nc_buf_init(SIZE_MAX);
    nc_cjson_append_number(&text, value);
    nc_status status = nc_buf_status(&text);
    if (status == NC_OK) {
        nc_params_add_number(params, name, nc_buf_slice(&text));
    } else {
        nc_cjson_fail(err, status, -1, "%s", nc_status_text(status));
    }
    nc_buf_deinit(&text);
    return status;
}

/// `params` limits the depth, so a tree that contains itself ends with NC_ERR_TOO_LARGE.
static nc_status add_item(nc_params *params, nc_slice name, const cJSON *item, nc_error *err) {
    int type = item->type & 0xff;
    if ((type == cJSON_String || type == cJSON_Raw) && item->valuestring == NULL) {
        return nc_cjson_fail(err, NC_ERR_BAD_PARAMETER, -1, "a string of the tree has no text");
    }
    switch (type) {
    case cJSON_NULL:
        nc_params_add_null(params, name);
        return NC_OK;
    case cJSON_False:
    case cJSON_True:
        nc_params_add_boolean(params, name, type == cJSON_True);
        return NC_OK;
    case cJSON_Number:
        return add_number(params, name, item->valuedouble, err);
    case cJSON_String:
        nc_params_add_string(params, name, nc_slice_of(item->valuestring));
        return NC_OK;
    case cJSON_Raw:
        return add_raw(params, name, item, err);
    case cJSON_Array:
    case cJSON_Object:
        break;
    default:
        return nc_cjson_fail(err, NC_ERR_BAD_PARAMETER, -1, "an item of the tree has no type");
    }
    nc_params_begin(params, name, type == cJSON_Object ? NC_PARAMS_OBJECT : NC_PARAMS_ARRAY);
    nc_status status = NC_OK;
    for (const cJSON *child = item->child; child != NULL && status == NC_OK; child = child->next) {
        if (nc_buf_status(&params->nodes) != NC_OK) {
            return NC_OK; // the caller reports the sticky error
        }
        status = add_item(params, nc_slice_of(child->string), child, err);
    }
    nc_params_end(params);
    return status;
}

nc_status nc_params_add_cjson(nc_params *params, nc_slice name, const cJSON *tree, nc_error *err) {
    nc_status status = add_item(params, name, tree, err);
    if (status == NC_OK && nc_buf_status(&params->nodes) != NC_OK) {
        status = nc_buf_status(&params->nodes);
        nc_cjson_fail(err, status, -1, "%s", nc_status_text(status));
    }
    return status == NC_OK ? nc_cjson_succeed(err) : status;
}
#endif
