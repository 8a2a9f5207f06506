#include "schema/tree.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_PER_BLOCK = 64 };

/* --- memory --- */

/// Allocates memory that lives as long as the tree. NULL if there is none.
static void *allocate(nc_tree *tree, size_t bytes) {
    nc_tree_block *block = nc_alloc_zeroed(1, sizeof *block + bytes);
    if (block == NULL) {
        tree->status = NC_ERR_NO_MEMORY;
        return NULL;
    }
    block->next = tree->blocks;
    tree->blocks = block;
    return block + 1;
}

void nc_tree_deinit(nc_tree *tree) {
    while (tree->blocks != NULL) {
        nc_tree_block *next = tree->blocks->next;
        nc_free(tree->blocks);
        tree->blocks = next;
    }
    *tree = (nc_tree){0};
}

/* --- reading --- */

/// Returns the number of bytes that a scalar has besides its text.
static uint64_t length_besides_text(nc_json_kind kind) {
    return kind == NC_JSON_STRING ? 2 : kind == NC_JSON_FALSE ? 5 : kind >= NC_JSON_TRUE ? 4 : 0;
}

/// Adds an empty value to the innermost open container.
static nc_tree_value *add_value(nc_tree *tree, const nc_json_token *token) {
    if (tree->count == NC_TREE_MAX_VALUES) {
        tree->status = NC_ERR_TOO_LARGE;
        return NULL;
    }
    if (tree->spare_count == 0) {
        tree->spare = allocate(tree, VALUES_PER_BLOCK * sizeof *tree->spare);
        if (tree->spare == NULL) {
            return NULL;
        }
        tree->spare_count = VALUES_PER_BLOCK;
    }
    nc_tree_value *value = tree->spare++;
    tree->spare_count--;
    tree->count++;
    *value = (nc_tree_value){.kind = token->kind,
                             .name = tree->name,
                             .offset = token->offset,
                             .end = token->offset + token->text.length + length_besides_text(token->kind),
                             .resource = NC_TREE_NONE,
                             .node = NC_TREE_NONE,
                             .parent = tree->open};
    if (tree->open == NULL) {
        tree->root = value;
        return value;
    }
    value->index = tree->open->count++;
    nc_tree_value **link = tree->open->first == NULL ? &tree->open->first : &tree->last[tree->depth]->next;
    *link = value;
    tree->last[tree->depth] = value;
    return value;
}

/// Returns the unescaped text of a token.
static nc_slice text_of(nc_tree *tree, const nc_json_token *token) {
    if (!token->has_escapes) {
        return token->text;
    }
    nc_buf text = nc_buf_init(token->text.length * 3 + 3);
    nc_json_unescape(&text, token->text);
    uint8_t *copy = text.status == NC_OK ? allocate(tree, text.length + 1) : NULL;
    nc_slice result = {copy, copy == NULL ? 0 : text.length};
    if (copy == NULL) {
        tree->status = NC_ERR_NO_MEMORY;
    } else if (text.length > 0) {
        memcpy(copy, text.data, text.length);
    }
    nc_buf_deinit(&text);
    return result;
}

static bool on_token(void *ctx, const nc_json_token *token) {
    nc_tree *tree = ctx;
    if (token->kind == NC_JSON_NAME) {
        tree->name = text_of(tree, token);
        return tree->status == NC_OK;
    }
    if (token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END) {
        tree->open->end = token->offset + 1;
        tree->open = tree->open->parent;
        tree->depth--;
        return true;
    }
    nc_tree_value *value = add_value(tree, token);
    if (value == NULL) {
        return false;
    }
    tree->name = (nc_slice){0};
    if (token->kind == NC_JSON_OBJECT || token->kind == NC_JSON_ARRAY) {
        tree->open = value;
        tree->depth++;
    } else if (token->kind == NC_JSON_STRING) {
        value->text = text_of(tree, token);
    } else if (token->kind == NC_JSON_NUMBER) {
        value->text = token->text;
    }
    return tree->status == NC_OK;
}

nc_status nc_tree_read(nc_tree *tree, nc_slice text, nc_error *err) {
    const nc_json_options options = {.max_depth = NC_TREE_MAX_DEPTH, .refuses_duplicate_names = true};
    *tree = (nc_tree){0};
    nc_status status = nc_json_read(text, &options, on_token, tree, NULL, err);
    if (tree->status == NC_OK) {
        return status;
    }
    return nc_error_set(err, tree->status, 0, -1, "%s",
                        tree->status == NC_ERR_TOO_LARGE ? "a schema document has more than 1000000 values"
                                                         : nc_status_text(tree->status));
}

/* --- look-ups --- */

nc_tree_value *nc_tree_member(const nc_tree_value *object, nc_slice name) {
    if (object->kind != NC_JSON_OBJECT) {
        return NULL;
    }
    nc_tree_value *member = object->first;
    while (member != NULL && !nc_slice_is_equal(member->name, name)) {
        member = member->next;
    }
    return member;
}

nc_tree_value *nc_tree_member_named(const nc_tree_value *object, const char *name) {
    return nc_tree_member(object, nc_slice_of(name));
}

/// Returns true if a reference token, as written in a pointer, is this name.
static bool is_named(nc_slice name, nc_slice token) {
    size_t at = 0;
    for (size_t i = 0; i < token.length; i++, at++) {
        uint8_t byte = token.data[i];
        if (byte == '~' && i + 1 < token.length) {
            byte = token.data[++i] == '0' ? '~' : '/';
        }
        if (at >= name.length || name.data[at] != byte) {
            return false;
        }
    }
    return at == name.length;
}

/// Returns true if a reference token is this index.
static bool is_index(uint32_t index, nc_slice token) {
    char text[16];
    snprintf(text, sizeof text, "%u", index);
    return nc_slice_is_equal(nc_slice_of(text), token);
}

static nc_tree_value *child_of(const nc_tree_value *value, nc_slice token, uint64_t *budget) {
    nc_tree_value *child = value->first;
    while (child != NULL && *budget > 0) {
        --*budget;
        if (value->kind == NC_JSON_OBJECT ? is_named(child->name, token) : is_index(child->index, token)) {
            return child;
        }
        child = child->next;
    }
    return NULL;
}

nc_tree_value *nc_tree_find(nc_tree_value *value, nc_slice pointer, uint64_t *budget) {
    size_t at = 0;
    if (pointer.length > 0 && pointer.data[0] != '/') {
        return NULL;
    }
    while (value != NULL && at < pointer.length) {
        size_t end = ++at;
        while (end < pointer.length && pointer.data[end] != '/') {
            end++;
        }
        value = child_of(value, nc_slice_make(pointer.data + at, end - at), budget);
        at = end;
    }
    return value;
}

void nc_tree_write_token(nc_buf *out, nc_slice name) {
    nc_buf_append_byte(out, '/');
    for (size_t i = 0; i < name.length; i++) {
        if (name.data[i] == '~' || name.data[i] == '/') {
            nc_buf_append(out, nc_slice_of(name.data[i] == '~' ? "~0" : "~1"));
        } else {
            nc_buf_append_byte(out, name.data[i]);
        }
    }
}

void nc_tree_write_pointer(nc_buf *out, const nc_tree_value *value) {
    const nc_tree_value *path[NC_TREE_MAX_DEPTH + 1];
    size_t count = 0;
    for (; value->parent != NULL && count <= NC_TREE_MAX_DEPTH; value = value->parent) {
        path[count++] = value;
    }
    while (count-- > 0) {
        char index[16];
        snprintf(index, sizeof index, "%u", path[count]->index);
        bool is_member = path[count]->parent->kind == NC_JSON_OBJECT;
        nc_tree_write_token(out, is_member ? path[count]->name : nc_slice_of(index));
    }
}
