#include "base/error.h"
#include "text/order.h"
#include "text/params.h"

#include <netcore/flatten.h>

/// The state of one nc_params_flatten().
typedef struct iteration {
    nc_flatten_options options;
    nc_flatten_fn visit;
    void *ctx;
    nc_error *err;
    /// The complete name of the current value. Not used for simple values of the root.
    nc_buf name;
} iteration;

static bool is_container(const nc_params_item *item) {
    return item->kind >= NC_PARAMS_OBJECT;
}

static nc_status visit_value(iteration *in, nc_slice name, const nc_params_item *value) {
    nc_status status = nc_value_check(name, value, in->err);
    return status == NC_OK ? in->visit(in->ctx, name, value, in->err) : status;
}

/// Visits an array as one value. Its elements are checked here, because they are not visited separately.
static nc_status visit_joined(iteration *in, nc_slice name, const nc_params_item *array) {
    nc_params_cursor cursor = nc_params_children(array);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        if (is_container(&item)) {
            return nc_value_refuse(name, "an array that contains arrays or objects cannot be joined by commas", -1,
                                   in->err);
        }
        nc_status status = nc_value_check(name, &item, in->err);
        if (status != NC_OK) {
            return status;
        }
    }
    return in->visit(in->ctx, name, array, in->err);
}

/// Appends the part of the name that selects `child` in `container`: "[name]", ".name", "[]" or "[index]".
static void append_step(iteration *in, const nc_params_item *container, const nc_params_item *child, size_t index) {
    nc_buf *name = &in->name;
    bool has_brackets = container->kind == NC_PARAMS_OBJECT  ? in->options.nested == NC_NESTED_BRACKETS
                        : container->kind == NC_PARAMS_ARRAY ? in->options.arrays <= NC_ARRAYS_INDEXED
                                                             : false;
    if (has_brackets) {
        nc_buf_append_byte(name, '[');
    } else if (container->kind == NC_PARAMS_OBJECT) {
        nc_buf_append_byte(name, '.');
    }
    nc_buf_append(name, child->name);
    if (container->kind == NC_PARAMS_ARRAY && in->options.arrays == NC_ARRAYS_INDEXED) {
        uint8_t digits[NC_NUMBER_BYTES];
        nc_buf_append(name, nc_slice_make(digits, nc_number_format_integer(digits, (int64_t)index)));
    }
    if (has_brackets) {
        nc_buf_append_byte(name, ']');
    }
}

static nc_status walk_container(iteration *in, const nc_params_item *container, bool is_root);

/// Visits a value whose complete name is in `in->name`.
static nc_status walk_value(iteration *in, const nc_params_item *value) {
    if (!is_container(value)) {
        return visit_value(in, nc_buf_slice(&in->name), value);
    }
    if (value->content.length == 0) {
        return NC_OK;
    }
    if (value->kind == NC_PARAMS_ARRAY && in->options.arrays == NC_ARRAYS_COMMA) {
        return visit_joined(in, nc_buf_slice(&in->name), value);
    }
    return walk_container(in, value, false);
}

static nc_status walk_child(iteration *in, const nc_params_item *container, const nc_params_item *child, size_t index,
                            bool is_root) {
    // The name of a simple value of the root is complete and needs no copy.
    if (is_root && !is_container(child)) {
        nc_status status = nc_value_check_name(child->name, child->name, in->err);
        return status == NC_OK ? visit_value(in, child->name, child) : status;
    }
    size_t length = in->name.length;
    if (is_root) {
        nc_buf_append(&in->name, child->name);
    } else {
        append_step(in, container, child, index);
    }
    nc_status status = nc_buf_status(&in->name);
    if (status != NC_OK) {
        return nc_error_set(in->err, status, 0, -1, "a parameter's name: %s", nc_status_text(status));
    }
    status = nc_value_check_name(nc_buf_slice(&in->name), child->name, in->err);
    if (status == NC_OK) {
        status = walk_value(in, child);
    }
    in->name.length = length;
    return status;
}

/// The recursion is at most NC_PARAMS_MAX_DEPTH deep.
static nc_status walk_container(iteration *in, const nc_params_item *container, bool is_root) {
    nc_ordered children;
    bool is_sorted = in->options.order == NC_ORDER_SORTED || container->kind == NC_PARAMS_SET;
    nc_status status = nc_ordered_init(&children, container, is_sorted);
    if (status != NC_OK) {
        return nc_error_set(in->err, status, 0, -1, "cannot sort the parameters: %s", nc_status_text(status));
    }
    nc_params_item child;
    for (size_t index = 0; status == NC_OK && nc_ordered_next(&children, &child); index++) {
        status = walk_child(in, container, &child, index, is_root);
    }
    nc_ordered_deinit(&children);
    return status;
}

static bool are_options_known(const nc_flatten_options *options) {
    return (unsigned)options->arrays <= NC_ARRAYS_COMMA && (unsigned)options->nested <= NC_NESTED_DOTS &&
           (unsigned)options->order <= NC_ORDER_AS_GIVEN;
}

nc_status nc_params_flatten(const nc_params *params, const nc_flatten_options *options, nc_flatten_fn visit, void *ctx,
                            nc_error *err) {
    static const nc_flatten_options defaults = {NC_ARRAYS_BRACKETS, NC_NESTED_BRACKETS, NC_ORDER_SORTED};
    if (params == NULL || visit == NULL || (options != NULL && !are_options_known(options))) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "an argument is missing or an option out of range");
    }
    nc_status status = nc_params_status(params);
    if (status != NC_OK) {
        return nc_error_set(err, status, 0, -1, "the parameters: %s", nc_status_text(status));
    }
    nc_params_item root = nc_params_root(params);
    if (root.kind != NC_PARAMS_OBJECT) {
        return nc_error_set(err, NC_ERR_BAD_PARAMETER, 0, -1,
                            "the parameters have no names: the root is not an object");
    }
    // The longest name: all names together, with an index and brackets for each level.
    size_t longest = params->nodes.length + NC_PARAMS_MAX_DEPTH * (NC_NUMBER_BYTES + 2);
    iteration in = {options != NULL ? *options : defaults, visit, ctx, err, nc_buf_init(longest)};
    status = walk_container(&in, &root, true);
    nc_buf_deinit(&in.name);
    return status == NC_OK ? nc_error_clear(err) : status;
}
