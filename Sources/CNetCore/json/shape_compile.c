#include "base/alloc.h"
#include "base/error.h"
#include "json/shape_builder.h"

#include <string.h>

/* --- containers --- */

/// Adds a node and returns its index, which stays valid when the buffer moves.
static uint32_t add_node(nc_shape_builder *builder, uint16_t types) {
    nc_shape_node node = {.types = types, .item = NC_NO_INDEX, .bucket_at = NC_NO_INDEX};
    uint32_t index = (uint32_t)(builder->shape->nodes.length / sizeof node);
    nc_buf_append(&builder->shape->nodes, nc_slice_make(&node, sizeof node));
    return index;
}

/// Makes a new node the shape of the current member or of the elements.
static void attach(nc_shape_builder *builder, uint32_t node) {
    nc_builder_frame *frame = nc_builder_top(builder);
    if (frame == NULL || builder->shape->nodes.status != NC_OK || builder->pending.status != NC_OK) {
        return;
    }
    if (frame->is_object && frame->slot == NC_SLOT_SHAPE) {
        size_t last = builder->pending.length / sizeof(nc_shape_member) - 1;
        ((nc_shape_member *)(void *)builder->pending.data)[last].node = node;
    } else {
        nc_shape_node_at(builder->shape, frame->node)->item = node;
        nc_shape_node_at(builder->shape, frame->node)->constraints |= NC_HAS_ITEM;
    }
}

/// Enters a container of the document. A match needs at most one frame for each level of the document.
static bool open_frame(nc_shape_builder *builder, const nc_json_token *token, nc_builder_frame frame) {
    if (builder->depth == NC_SHAPE_MAX_DEPTH) {
        return nc_builder_fail(builder, token->offset, "nested more than %u levels deep", NC_SHAPE_MAX_DEPTH);
    }
    frame.pending_at = (uint32_t)(builder->pending.length / sizeof(nc_shape_member));
    frame.from = (size_t)token->offset;
    builder->frames[builder->depth++] = frame;
    if (builder->depth > builder->shape->depth) {
        builder->shape->depth = builder->depth;
    }
    return true;
}

/// Begins the shape of a value: a string of types, an object or an array.
static bool begin_shape(nc_shape_builder *builder, const nc_json_token *token) {
    bool is_object = token->kind == NC_JSON_OBJECT;
    if (token->kind == NC_JSON_STRING) {
        nc_buf_reset(&builder->scratch);
        nc_json_unescape(&builder->scratch, token->text);
        nc_slice text = nc_buf_slice(&builder->scratch);
        uint16_t types;
        if (!nc_builder_parse_types(&types, text)) {
            return nc_builder_fail(builder, token->offset, "unknown type \"%.*s\"",
                                   (int)(text.length < 64 ? text.length : 64), (const char *)text.data);
        }
        uint32_t node = add_node(builder, types);
        nc_shape_text type_text = nc_builder_store(builder, text);
        attach(builder, node);
        if (builder->shape->nodes.status == NC_OK) {
            nc_shape_node_at(builder->shape, node)->type_text = type_text;
        }
        return true;
    }
    if (!is_object && token->kind != NC_JSON_ARRAY) {
        return nc_builder_fail(builder, token->offset, "expected a shape: a string of types, an object or an array");
    }
    uint32_t node = add_node(builder, is_object ? 0 : NC_TYPE_ARRAY);
    attach(builder, node);
    if (!is_object && builder->shape->nodes.status == NC_OK) {
        nc_shape_text type_text = nc_builder_store(builder, nc_slice_of("array"));
        nc_shape_node_at(builder->shape, node)->type_text = type_text;
    }
    return open_frame(builder, token, (nc_builder_frame){.is_object = is_object, .node = node});
}

/// Reads the name of a directive. Its value follows.
static bool read_directive(nc_shape_builder *builder, const nc_json_token *token, nc_slice key) {
    nc_builder_frame *frame = nc_builder_top(builder);
    if (!nc_builder_find_directive(&frame->slot, key)) {
        return nc_builder_fail(builder, token->offset,
                               "unknown directive: write $$ for a member name that begins with $");
    }
    uint16_t bit = (uint16_t)(1u << frame->slot);
    if ((frame->seen_directives & bit) != 0) {
        return nc_builder_fail(builder, token->offset, "the directive occurs twice");
    }
    frame->seen_directives |= bit;
    return true;
}

/// Reads a name. It is a directive if it begins with a single `$`, otherwise a member.
static bool read_name(nc_shape_builder *builder, const nc_json_token *token) {
    nc_builder_frame *frame = nc_builder_top(builder);
    frame->name = token->text;
    nc_buf_reset(&builder->scratch);
    nc_json_unescape(&builder->scratch, token->text);
    nc_slice key = nc_buf_slice(&builder->scratch);
    bool is_dollar = key.length > 0 && key.data[0] == '$';
    if (is_dollar && (key.length == 1 || key.data[1] != '$')) {
        return read_directive(builder, token, key);
    }
    nc_shape_member member = {.node = NC_NO_INDEX, .next = NC_NO_INDEX};
    nc_buf name = nc_buf_init(NC_SHAPE_MAX_BYTES);
    nc_builder_parse_name(&name, &member.is_optional, key);
    member.name = nc_builder_store(builder, nc_buf_slice(&name));
    if (name.status != NC_OK) {
        builder->status = name.status;
    }
    nc_buf_deinit(&name);
    frame->slot = NC_SLOT_SHAPE;
    nc_buf_append(&builder->pending, nc_slice_make(&member, sizeof member));
    if (member.name.length > builder->shape->max_text_bytes) {
        builder->shape->max_text_bytes = member.name.length;
    }
    return true;
}

/// Returns the name with at least eight readable bytes: a short name is copied to `storage`.
static nc_slice padded(nc_slice name, uint8_t storage[8]) {
    if (name.length >= 8) {
        return name;
    }
    memset(storage, 0, 8);
    if (name.length > 0) {
        memcpy(storage, name.data, name.length);
    }
    return nc_slice_make(storage, name.length);
}

/// Adds a member to its hash bucket. Returns false if the object already has a member with this name.
static bool link_member(nc_shape *shape, nc_shape_node *node, uint32_t index) {
    uint8_t storage[8];
    nc_shape_member *member = nc_shape_member_at(shape, index);
    nc_slice name = nc_shape_slice(shape, member->name);
    nc_slice padded_name = padded(name, storage);
    uint32_t *bucket = nc_shape_bucket_at(
        shape, node->bucket_at + (nc_shape_hash(padded_name.data, padded_name.length) & node->bucket_mask));
    for (uint32_t at = *bucket; at != NC_NO_INDEX; at = nc_shape_member_at(shape, at)->next) {
        if (nc_slice_is_equal(nc_shape_slice(shape, nc_shape_member_at(shape, at)->name), name)) {
            return false;
        }
    }
    member->mask = nc_shape_mask(name.length);
    member->last_at = name.length >= 8 ? (uint32_t)name.length - 8 : 0;
    member->first = nc_shape_load(padded_name.data) & member->mask;
    member->last = nc_shape_load(padded_name.data + member->last_at) & member->mask;
    // In a text a '\' is always escaped, so a name that contains one never equals its written form.
    bool is_escaped = name.length > 0 && memchr(name.data, '\\', name.length) != NULL;
    member->length = is_escaped ? NC_NO_INDEX - 1 : (uint32_t)name.length;
    member->next = *bucket;
    *bucket = index;
    node->required_count += member->is_optional ? 0 : 1;
    return true;
}

/// Moves the pending members of a complete object to its node, and fills the hash buckets. Returns false if two members
/// have the same name.
static bool link_members(nc_shape_builder *builder, const nc_builder_frame *frame, uint64_t offset) {
    nc_shape *shape = builder->shape;
    size_t from = frame->pending_at * sizeof(nc_shape_member);
    nc_slice members = nc_slice_make(builder->pending.data + from, builder->pending.length - from);
    uint32_t count = (uint32_t)(members.length / sizeof(nc_shape_member));
    uint32_t first = (uint32_t)(shape->members.length / sizeof(nc_shape_member));
    // At least four buckets for each member, so that the bucket of an unlisted name is mostly empty.
    uint32_t buckets = 4;
    while (buckets < count * 4) {
        buckets *= 2;
    }
    nc_shape_node *node = nc_shape_node_at(shape, frame->node);
    node->constraints |= NC_HAS_MEMBERS;
    node->member_at = first;
    node->member_count = count;
    node->bucket_at = (uint32_t)(shape->buckets.length / sizeof(uint32_t));
    node->bucket_mask = buckets - 1;
    nc_buf_append(&shape->members, members);
    // The list ends with a member that matches no name, so that each member has a next one.
    nc_shape_member end = {.length = NC_NO_INDEX, .node = NC_NO_INDEX, .next = NC_NO_INDEX};
    nc_buf_append(&shape->members, nc_slice_make(&end, sizeof end));
    uint32_t none = NC_NO_INDEX;
    for (uint32_t i = 0; i < buckets; i++) {
        nc_buf_append(&shape->buckets, nc_slice_make(&none, sizeof none));
    }
    builder->pending.length = from;
    if (shape->members.status != NC_OK || shape->buckets.status != NC_OK || shape->text.status != NC_OK) {
        return true;
    }
    // Backwards, so that the members of a bucket are in the order of the document.
    for (uint32_t i = count; i-- > 0;) {
        if (!link_member(shape, node, first + i)) {
            nc_slice name = nc_shape_slice(shape, nc_shape_member_at(shape, first + i)->name);
            return nc_builder_fail(builder, offset, "the member \"%.*s\" occurs twice",
                                   (int)(name.length < 64 ? name.length : 64), (const char *)name.data);
        }
    }
    return true;
}

/// Completes a container: an $enum, an array or the members of an object.
static bool close_frame(nc_shape_builder *builder, const nc_json_token *token) {
    nc_builder_frame *frame = nc_builder_top(builder);
    frame->name = (nc_slice){0};
    if (frame->is_enum) {
        nc_slice text = nc_slice_make(builder->document.data + frame->from, (size_t)token->offset + 1 - frame->from);
        nc_shape_text stored = nc_builder_store(builder, text);
        nc_shape_node_at(builder->shape, frame->node)->enum_text = stored;
        builder->depth--;
        return true;
    }
    bool has_members = builder->pending.length > frame->pending_at * sizeof(nc_shape_member) ||
                       (nc_shape_node_at(builder->shape, frame->node)->constraints & NC_HAS_MEMBERS) != 0;
    if (frame->is_object && has_members && !link_members(builder, frame, token->offset)) {
        return false;
    }
    if (frame->is_object && !nc_builder_close_node(builder, frame->node, token->offset)) {
        return false;
    }
    builder->depth--;
    return true;
}

/// Begins the list of $enum. Its values are stored one after another from here on.
static bool begin_enum(nc_shape_builder *builder, const nc_json_token *token) {
    nc_shape_node *node = nc_shape_node_at(builder->shape, nc_builder_top(builder)->node);
    node->constraints |= NC_HAS_ENUM;
    node->enum_at = (uint32_t)(builder->shape->values.length / sizeof(nc_shape_value));
    return open_frame(builder, token, (nc_builder_frame){.is_enum = true, .node = nc_builder_top(builder)->node});
}

/// Reads a token. The innermost container and its slot determine what the token describes.
static bool read_token(nc_shape_builder *builder, const nc_json_token *token) {
    nc_builder_frame *frame = nc_builder_top(builder);
    if (token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END) {
        return close_frame(builder, token);
    }
    if (token->kind == NC_JSON_NAME) {
        return read_name(builder, token);
    }
    if (frame != NULL && frame->is_enum) {
        frame->count++;
        return nc_builder_read_enum(builder, token);
    }
    if (frame != NULL && frame->is_object && frame->slot > NC_SLOT_ITEMS) {
        bool is_enum = frame->slot == NC_SLOT_ENUM && token->kind == NC_JSON_ARRAY;
        return is_enum ? begin_enum(builder, token) : nc_builder_read_directive(builder, token);
    }
    if (frame != NULL && !frame->is_object && frame->count++ > 0) {
        return nc_builder_fail(builder, token->offset, "an array must have exactly one shape, for all its elements");
    }
    return begin_shape(builder, token);
}

/// Returns the error of the first buffer that has one. Errors of buffers are sticky, so they are checked only here.
static nc_status buffer_status(const nc_shape_builder *builder) {
    const nc_shape *shape = builder->shape;
    const nc_buf *bufs[] = {&shape->nodes, &shape->members,   &shape->values,   &shape->buckets,
                            &shape->text,  &builder->pending, &builder->scratch};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++) {
        if (bufs[i]->status != NC_OK) {
            return bufs[i]->status;
        }
    }
    return NC_OK;
}

static bool on_token(void *ctx, const nc_json_token *token) {
    nc_shape_builder *builder = ctx;
    bool should_continue = read_token(builder, token);
    if (builder->status == NC_OK) {
        builder->status = buffer_status(builder);
    }
    return should_continue && builder->status == NC_OK;
}

/* --- documents --- */

/// Creates an empty shape. The maximum of its buffers is a multiple of the longest document.
static nc_shape *new_shape(void) {
    nc_shape *shape = nc_alloc_zeroed(1, sizeof *shape);
    if (shape != NULL) {
        const size_t max_bytes = (size_t)NC_SHAPE_MAX_BYTES * 64;
        atomic_init(&shape->references, 1);
        shape->max_text_bytes = NC_SHAPE_MIN_TEXT_BYTES;
        shape->nodes = nc_buf_init(max_bytes);
        shape->members = nc_buf_init(max_bytes);
        shape->values = nc_buf_init(max_bytes);
        shape->buckets = nc_buf_init(max_bytes);
        shape->text = nc_buf_init(max_bytes);
    }
    return shape;
}

nc_status nc_shape_parse(nc_shape **out, nc_slice document, nc_error *err) {
    if (document.length > NC_SHAPE_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, NC_SHAPE_MAX_BYTES, "the shape is longer than %u bytes",
                            NC_SHAPE_MAX_BYTES);
    }
    nc_shape_builder *builder = nc_alloc_zeroed(1, sizeof *builder);
    nc_shape *shape = builder != NULL ? new_shape() : NULL;
    if (shape == NULL) {
        nc_free(builder);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a shape");
    }
    builder->shape = shape;
    builder->document = document;
    builder->err = err;
    builder->pending = nc_buf_init(shape->text.max_bytes);
    builder->scratch = nc_buf_init(NC_SHAPE_MAX_BYTES);
    nc_error found;
    nc_status status = nc_json_read(document, NULL, on_token, builder, NULL, &found);
    if (builder->status == NC_ERR_NO_MEMORY || builder->status == NC_ERR_TOO_LARGE) {
        status = nc_error_set(err, builder->status, 0, -1, "cannot store the shape");
    } else if (builder->status != NC_OK) {
        status = builder->status;
    } else if (status == NC_ERR_BAD_JSON) {
        status = nc_error_set(err, NC_ERR_BAD_SHAPE, 0, found.offset, "%s", found.message);
    } else if (status != NC_OK && err != NULL) {
        *err = found;
    }
    nc_buf_deinit(&builder->pending);
    nc_buf_deinit(&builder->scratch);
    nc_free(builder);
    if (status != NC_OK) {
        nc_shape_release(shape);
        return status;
    }
    nc_shape_finalize(shape);
    *out = shape;
    return nc_error_clear(err);
}
