#include "text/params.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

#include <netcore/params.h>
#include <string.h>

/// The header of a node. The name, then the text or the children, and padding to 8 bytes follow it.
typedef struct node {
    uint32_t kind;
    uint32_t name_length;
    /// The value of the node; for texts, bytes and containers the length of the contents.
    uint64_t value;
} node;

/// Size of a tree's first allocation, enough for eight values of typical length.
#define FIRST_BYTES 512u

static size_t padded(size_t length) {
    return (length + 7) & ~(size_t)7;
}

static bool is_container(nc_params_kind kind) {
    return kind == NC_PARAMS_OBJECT || kind == NC_PARAMS_ARRAY || kind == NC_PARAMS_SET;
}

static bool has_text(nc_params_kind kind) {
    return kind == NC_PARAMS_NUMBER || kind == NC_PARAMS_STRING || kind == NC_PARAMS_BYTES;
}

static void fail(nc_params *params, nc_status status) {
    if (params->nodes.status == NC_OK) {
        params->nodes.status = status;
    }
}

static node node_at(const uint8_t *bytes) {
    node head;
    memcpy(&head, bytes, sizeof head);
    return head;
}

/* --- building --- */

static nc_params_kind open_kind(const nc_params *params) {
    return params->open == 0 ? params->root : (nc_params_kind)node_at(params->nodes.data + params->open - 1).kind;
}

/// Appends `bytes` of uninitialized memory to the tree and returns it; NULL after an error.
static uint8_t *grow(nc_params *params, size_t bytes) {
    nc_buf *nodes = &params->nodes;
    if (nodes->capacity - nodes->length < bytes || nodes->status != NC_OK) {
        size_t wanted =
            nodes->capacity == 0 && bytes < FIRST_BYTES && nodes->max_bytes >= FIRST_BYTES ? FIRST_BYTES : bytes;
        if (nc_buf_reserve(nodes, wanted) != NC_OK) {
            return NULL;
        }
    }
    uint8_t *node_bytes = nodes->data + nodes->length;
    nodes->length += bytes;
    return node_bytes;
}

static void add(nc_params *params, nc_params_kind kind, nc_slice name, uint64_t value, nc_slice text) {
    if (open_kind(params) != NC_PARAMS_OBJECT) {
        name.length = 0;
    }
    // With these limits the padded size of the node cannot overflow.
    if (name.length > UINT32_MAX || text.length > SIZE_MAX / 2 - UINT32_MAX - 64) {
        fail(params, NC_ERR_TOO_LARGE);
        return;
    }
    size_t used = sizeof(node) + name.length + text.length;
    uint8_t *node_bytes = grow(params, padded(used));
    if (node_bytes == NULL) {
        return;
    }
    node head = {(uint32_t)kind, (uint32_t)name.length, value};
    // Clears the padding; the other bytes of these 8 are overwritten below.
    memset(node_bytes + padded(used) - 8, 0, 8);
    memcpy(node_bytes, &head, sizeof head);
    if (name.length > 0) {
        memcpy(node_bytes + sizeof head, name.data, name.length);
    }
    if (text.length > 0) {
        memcpy(node_bytes + sizeof head + name.length, text.data, text.length);
    }
}

nc_params nc_params_init(nc_params_kind root, size_t max_bytes) {
    nc_params params = {.nodes = nc_buf_init(max_bytes == 0 ? NC_PARAMS_DEFAULT_MAX_BYTES : max_bytes)};
    nc_params_reset(&params, root);
    return params;
}

void nc_params_deinit(nc_params *params) {
    if (params != NULL) {
        nc_buf_deinit(&params->nodes);
        params->open = 0;
        params->depth = 1;
    }
}

void nc_params_reset(nc_params *params, nc_params_kind root) {
    nc_buf_reset(&params->nodes);
    params->root = root;
    params->open = 0;
    params->depth = 1;
    if (!is_container(root)) {
        fail(params, NC_ERR_USAGE);
    }
}

nc_status nc_params_reserve(nc_params *params, size_t more_bytes) {
    return nc_buf_reserve(&params->nodes, more_bytes);
}

void nc_params_add_null(nc_params *params, nc_slice name) {
    add(params, NC_PARAMS_NULL, name, 0, nc_slice_make(NULL, 0));
}

void nc_params_add_boolean(nc_params *params, nc_slice name, bool value) {
    add(params, NC_PARAMS_BOOLEAN, name, value, nc_slice_make(NULL, 0));
}

void nc_params_add_integer(nc_params *params, nc_slice name, int64_t value) {
    add(params, NC_PARAMS_INTEGER, name, (uint64_t)value, nc_slice_make(NULL, 0));
}

void nc_params_add_double(nc_params *params, nc_slice name, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add(params, NC_PARAMS_DOUBLE, name, bits, nc_slice_make(NULL, 0));
}

void nc_params_add_number(nc_params *params, nc_slice name, nc_slice digits) {
    add(params, NC_PARAMS_NUMBER, name, digits.length, digits);
}

void nc_params_add_string(nc_params *params, nc_slice name, nc_slice text) {
    add(params, NC_PARAMS_STRING, name, text.length, text);
}

void nc_params_add_bytes(nc_params *params, nc_slice name, nc_slice bytes) {
    add(params, NC_PARAMS_BYTES, name, bytes.length, bytes);
}

void nc_params_begin(nc_params *params, nc_slice name, nc_params_kind kind) {
    if (!is_container(kind)) {
        fail(params, NC_ERR_USAGE);
    } else if (params->depth >= NC_PARAMS_MAX_DEPTH) {
        fail(params, NC_ERR_TOO_LARGE);
    }
    size_t start = params->nodes.length;
    // While a container is open, `value` stores the enclosing container's `open` (its offset plus 1; 0 for the root).
    add(params, kind, name, params->open, nc_slice_make(NULL, 0));
    if (params->nodes.status == NC_OK) {
        params->open = start + 1;
        params->depth++;
    }
}

void nc_params_end(nc_params *params) {
    if (params->open == 0) {
        fail(params, NC_ERR_USAGE);
    }
    if (params->nodes.status != NC_OK) {
        return;
    }
    uint8_t *node_bytes = params->nodes.data + params->open - 1;
    node head = node_at(node_bytes);
    size_t children = params->open - 1 + padded(sizeof head + head.name_length);
    params->open = (size_t)head.value;
    params->depth--;
    head.value = params->nodes.length - children;
    memcpy(node_bytes, &head, sizeof head);
}

nc_status nc_params_status(const nc_params *params) {
    return params->nodes.status == NC_OK && params->depth > 1 ? NC_ERR_USAGE : params->nodes.status;
}

/* --- reading --- */

nc_params_item nc_params_root(const nc_params *params) {
    nc_params_item root = {.kind = params->root};
    if (nc_params_status(params) == NC_OK) {
        root.content = nc_buf_slice(&params->nodes);
    }
    return root;
}

nc_params_cursor nc_params_children(const nc_params_item *container) {
    return (nc_params_cursor){is_container(container->kind) ? container->content : nc_slice_make(NULL, 0)};
}

bool nc_params_next(nc_params_cursor *cursor, nc_params_item *item) {
    if (cursor->rest.length == 0) {
        return false;
    }
    const uint8_t *node_bytes = cursor->rest.data;
    node head = node_at(node_bytes);
    nc_params_kind kind = (nc_params_kind)head.kind;
    *item = (nc_params_item){.kind = kind, .name = nc_slice_make(node_bytes + sizeof head, head.name_length)};
    size_t used = sizeof head + head.name_length;
    if (is_container(kind)) {
        used = padded(used);
    }
    if (has_text(kind) || is_container(kind)) {
        item->content = nc_slice_make(node_bytes + used, (size_t)head.value);
        used += (size_t)head.value;
    }
    item->boolean = kind == NC_PARAMS_BOOLEAN && head.value != 0;
    item->integer = kind == NC_PARAMS_INTEGER ? (int64_t)head.value : 0;
    if (kind == NC_PARAMS_DOUBLE) {
        memcpy(&item->number, &head.value, sizeof item->number);
    }
    cursor->rest = nc_slice_make(node_bytes + padded(used), cursor->rest.length - padded(used));
    return true;
}

nc_slice nc_params_text(const nc_params_item *item, nc_params_digits *digits) {
    switch (item->kind) {
    case NC_PARAMS_BOOLEAN:
        return nc_slice_of(item->boolean ? "true" : "false");
    case NC_PARAMS_INTEGER:
        return nc_slice_make(digits->bytes, nc_number_format_integer(digits->bytes, item->integer));
    case NC_PARAMS_DOUBLE:
        return nc_slice_make(digits->bytes, nc_number_format_double(digits->bytes, item->number));
    case NC_PARAMS_NUMBER:
    case NC_PARAMS_STRING:
    case NC_PARAMS_BYTES:
        return item->content;
    default:
        return nc_slice_make(NULL, 0);
    }
}

/* --- checking values --- */

static int shown_length(nc_slice path) {
    return (int)(path.length < NC_PATH_SHOWN_BYTES ? path.length : NC_PATH_SHOWN_BYTES);
}

nc_status nc_value_refuse(nc_slice path, const char *what, int64_t offset, nc_error *err) {
    const char *text = path.length == 0 ? "" : (const char *)path.data;
    return nc_error_set(err, NC_ERR_BAD_PARAMETER, 0, offset, "'%.*s': %s", shown_length(path), text, what);
}

nc_status nc_value_check_name(nc_slice path, nc_slice name, nc_error *err) {
    size_t good = nc_utf8_span(name.data, name.length);
    return good == name.length ? NC_OK : nc_value_refuse(path, "the name is not UTF-8", (int64_t)good, err);
}

nc_status nc_value_check(nc_slice path, const nc_params_item *item, nc_error *err) {
    if (item->kind == NC_PARAMS_STRING) {
        size_t good = nc_utf8_span(item->content.data, item->content.length);
        if (good != item->content.length) {
            return nc_value_refuse(path, "the text is not UTF-8", (int64_t)good, err);
        }
    } else if (item->kind == NC_PARAMS_NUMBER && !nc_number_is_valid(item->content)) {
        return nc_value_refuse(path, "the number is not valid", 0, err);
    } else if (item->kind == NC_PARAMS_DOUBLE && item->number - item->number != 0) {
        return nc_value_refuse(path, "the number is not finite", 0, err);
    }
    return NC_OK;
}
