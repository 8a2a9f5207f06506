#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// JSON text as a tree of cJSON.
#include "internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { POINTER_BYTES = 160 };

/// An open container.
typedef struct level {
    cJSON *node;
    size_t offset; // of its first byte
} level;

/// The state of one call of nc_cjson_read().
typedef struct builder {
    const nc_cjson_options *options;
    nc_slice input;
    cJSON *root;
    nc_buf open; // the open containers, outermost first, each as a `level`
    size_t
        raw_depth; // number of open containers within the object that becomes a cJSON_Raw, and it; 0 if there is none
    nc_buf unescaped; // the current string
    char *name;       // of the next value; owned
    nc_status status;
    nc_error error; // if a value was refused
} builder;

/* --- the open containers --- */

static size_t depth_of(const builder *b) {
    return b->open.length / sizeof(level);
}

static level level_at(const builder *b, size_t index) {
    level one;
    memcpy(&one, b->open.data + index * sizeof one, sizeof one);
    return one;
}

static cJSON *container_at(const builder *b, size_t index) {
    return level_at(b, index).node;
}

static cJSON *innermost(const builder *b) {
    size_t depth = depth_of(b);
    return depth == 0 ? NULL : container_at(b, depth - 1);
}

/* --- errors --- */

static void append_step(nc_buf *out, const cJSON *parent, const char *name, bool is_complete) {
    nc_buf_append_byte(out, '/');
    if (cJSON_IsArray(parent)) {
        char index[32];
        size_t count = (size_t)cJSON_GetArraySize(parent);
        int length = snprintf(index, sizeof index, "%zu", is_complete ? count : count - 1);
        nc_buf_append(out, nc_slice_make(index, (size_t)length));
        return;
    }
    for (; name != NULL && *name != '\0'; name++) {
        if (*name == '~' || *name == '/') {
            nc_buf_append(out, nc_slice_of(*name == '~' ? "~0" : "~1"));
        } else {
            bool is_control = (uint8_t)*name < 0x20 || *name == 0x7f; // an error message is one line
            nc_buf_append_byte(out, is_control ? '?' : (uint8_t)*name);
        }
    }
}

/// Writes the JSON Pointer of the next value. A pointer that is too long is cut.
static void write_pointer(const builder *b, char out[POINTER_BYTES]) {
    nc_buf text = nc_buf_init(POINTER_BYTES - 1);
    size_t depth = depth_of(b);
    for (size_t i = 0; i < depth; i++) {
        bool is_last = i + 1 == depth;
        if (is_last && b->name == NULL && cJSON_IsObject(container_at(b, i))) {
            break; // a name was refused: the pointer is that of its object
        }
        append_step(&text, container_at(b, i), is_last ? b->name : container_at(b, i + 1)->string, is_last);
    }
    if (nc_buf_status(&text) != NC_OK) {
        while (text.length > 0 && (text.data[text.length - 1] & 0xc0) == 0x80) {
            text.length--; // the rest of a character that was cut
        }
        text.length -= text.length > 0 && text.data[text.length - 1] >= 0xc0;
    }
    memcpy(out, text.data == NULL ? (const uint8_t *)"" : text.data, text.length);
    out[text.length] = '\0';
    nc_buf_deinit(&text);
}

static bool refuse(builder *b, const nc_json_token *token, const char *reason) {
    char pointer[POINTER_BYTES];
    write_pointer(b, pointer);
    b->status = nc_cjson_fail(&b->error, NC_ERR_BAD_PARAMETER, (int64_t)token->offset, "at %s: %s",
                              pointer[0] == '\0' ? "the root" : pointer, reason);
    return false;
}

static bool has_no_memory(builder *b) {
    b->status = NC_ERR_NO_MEMORY;
    return false;
}

/* --- values --- */

static char *copy_text(nc_slice text) {
    char *copy = cJSON_malloc(text.length + 1);
    if (copy != NULL) {
        if (text.length > 0) {
            memcpy(copy, text.data, text.length);
        }
        copy[text.length] = '\0';
    }
    return copy;
}

/// Creates a node without content. cJSON_Delete() releases nodes with the function that belongs to cJSON_malloc().
static cJSON *new_node(int type) {
    cJSON *node = cJSON_malloc(sizeof *node);
    if (node != NULL) {
        memset(node, 0, sizeof *node);
        node->type = type;
    }
    return node;
}

/// Adds a node to the innermost container, or makes it the root. Takes `b->name`.
static void attach(builder *b, cJSON *node) {
    node->string = b->name;
    b->name = NULL;
    cJSON *parent = innermost(b);
    if (parent == NULL) {
        b->root = node;
    } else if (parent->child == NULL) {
        parent->child = node;
        node->prev = node; // cJSON finds the last child as the `prev` of the first one
    } else {
        cJSON *last = parent->child->prev;
        last->next = node;
        node->prev = last;
        parent->child->prev = node;
    }
}

static bool add(builder *b, int type) {
    cJSON *node = new_node(type);
    if (node == NULL) {
        return has_no_memory(b);
    }
    attach(b, node);
    return true;
}

static bool open_container(builder *b, const nc_json_token *token, int type) {
    cJSON *node = new_node(type);
    if (node == NULL) {
        return has_no_memory(b);
    }
    attach(b, node);
    level one = {node, (size_t)token->offset};
    nc_buf_append(&b->open, nc_slice_make(&one, sizeof one));
    return nc_buf_status(&b->open) == NC_OK || has_no_memory(b);
}

static bool close_container(builder *b) {
    cJSON *node = innermost(b);
    b->open.length -= sizeof(level);
    if (cJSON_IsObject(node) && !b->options->json.refuses_duplicate_names) {
        b->status = nc_cjson_keep_last(node);
    }
    return b->status == NC_OK;
}

/// Adds a node with a copy of a text.
static bool add_text(builder *b, int type, nc_slice text) {
    char *copy = copy_text(text);
    cJSON *node = copy == NULL ? NULL : new_node(type);
    if (node == NULL) {
        cJSON_free(copy);
        return has_no_memory(b);
    }
    node->valuestring = copy;
    attach(b, node);
    return true;
}

/// Skips a token of an object that becomes a cJSON_Raw. At the end of the object, stores its text.
static bool skip(builder *b, const nc_json_token *token) {
    b->raw_depth += token->kind == NC_JSON_OBJECT || token->kind == NC_JSON_ARRAY;
    b->raw_depth -= token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END;
    if (b->raw_depth > 0) {
        return true;
    }
    level one = level_at(b, depth_of(b) - 1);
    b->open.length -= sizeof(level);
    cJSON_Delete(one.node->child);
    one.node->child = NULL;
    one.node->type = cJSON_Raw;
    one.node->valuestring =
        copy_text(nc_slice_make(b->input.data + one.offset, (size_t)token->offset + 1 - one.offset));
    return one.node->valuestring != NULL || has_no_memory(b);
}

/// Adds a value as it is written, including the quotes of a string.
static bool add_raw(builder *b, const nc_json_token *token) {
    bool is_string = token->kind == NC_JSON_STRING;
    nc_slice text = token->text;
    if (is_string) {
        text = nc_slice_make(text.data - 1, text.length + 2);
    }
    return add_text(b, cJSON_Raw, text);
}

static bool add_number(builder *b, const nc_json_token *token) {
    double value = 0;
    if (!nc_cjson_number(token->text, &value, &b->status)) {
        if (b->status != NC_OK) {
            return false;
        }
        return b->options->keeps_raw ? add_raw(b, token)
                                     : refuse(b, token, "cJSON's numbers are doubles, which cannot represent this one");
    }
    cJSON *node = new_node(cJSON_Number);
    if (node == NULL) {
        return has_no_memory(b);
    }
    node->valuedouble = value;
    // As cJSON_Parse() does.
    node->valueint = value >= INT_MAX ? INT_MAX : value <= INT_MIN ? INT_MIN : (int)value;
    attach(b, node);
    return true;
}

/// Returns the text of a token without escapes, borrowed until the next token. Empty after an error.
static nc_slice unescaped_text(builder *b, const nc_json_token *token) {
    if (!token->has_escapes) {
        return token->text;
    }
    nc_buf_reset(&b->unescaped);
    nc_json_unescape(&b->unescaped, token->text);
    b->status = nc_buf_status(&b->unescaped);
    return nc_buf_slice(&b->unescaped);
}

static bool has_nul(const nc_json_token *token, nc_slice text) {
    return token->has_escapes && text.length > 0 && memchr(text.data, 0, text.length) != NULL;
}

static bool add_string(builder *b, const nc_json_token *token) {
    nc_slice text = unescaped_text(b, token);
    if (b->status != NC_OK) {
        return false;
    }
    if (has_nul(token, text)) {
        return b->options->keeps_raw ? add_raw(b, token) : refuse(b, token, "cJSON's strings cannot contain U+0000");
    }
    return add_text(b, cJSON_String, text);
}

static bool take_name(builder *b, const nc_json_token *token) {
    nc_slice text = unescaped_text(b, token);
    if (b->status != NC_OK) {
        return false;
    }
    if (has_nul(token, text)) {
        b->raw_depth = b->options->keeps_raw;
        return b->options->keeps_raw || refuse(b, token, "cJSON's names cannot contain U+0000");
    }
    b->name = copy_text(text);
    return b->name != NULL || has_no_memory(b);
}

static bool take_token(void *ctx, const nc_json_token *token) {
    builder *b = ctx;
    if (b->raw_depth > 0) {
        return skip(b, token);
    }
    switch (token->kind) {
    case NC_JSON_OBJECT:
        return open_container(b, token, cJSON_Object);
    case NC_JSON_ARRAY:
        return open_container(b, token, cJSON_Array);
    case NC_JSON_OBJECT_END:
    case NC_JSON_ARRAY_END:
        return close_container(b);
    case NC_JSON_NAME:
        return take_name(b, token);
    case NC_JSON_STRING:
        return add_string(b, token);
    case NC_JSON_NUMBER:
        return add_number(b, token);
    case NC_JSON_TRUE:
        return add(b, cJSON_True);
    case NC_JSON_FALSE:
        return add(b, cJSON_False);
    case NC_JSON_NULL:
        return add(b, cJSON_NULL);
    }
    return false;
}

nc_status nc_cjson_read(nc_slice text, const nc_cjson_options *options, cJSON **out, nc_error *err) {
    *out = NULL;
    nc_cjson_options defaults = {.keeps_raw = false};
    options = options == NULL ? &defaults : options;
    if (options->json.max_depth > NC_CJSON_MAX_DEPTH) {
        return nc_cjson_fail(err, NC_ERR_USAGE, -1, "max_depth is %u; the largest depth of a tree is %u",
                             options->json.max_depth, NC_CJSON_MAX_DEPTH);
    }
    builder b = {.options = options, .input = text, .open = nc_buf_init(SIZE_MAX), .unescaped = nc_buf_init(SIZE_MAX)};
    nc_status status = nc_json_read(text, &options->json, take_token, &b, NULL, err);
    if (status == NC_ERR_STOPPED_BY_CALLER) {
        status = b.status;
        if (err != NULL && status == NC_ERR_BAD_PARAMETER) {
            *err = b.error;
        } else {
            nc_cjson_fail(err, status, -1, "%s", nc_status_text(status));
        }
    }
    nc_buf_deinit(&b.open);
    nc_buf_deinit(&b.unescaped);
    cJSON_free(b.name);
    if (status != NC_OK) {
        cJSON_Delete(b.root);
        return status;
    }
    *out = b.root;
    return NC_OK;
}
#endif
