#include "base/alloc.h"
#include "base/error.h"
#include "json/shape_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- building --- */

nc_build_frame *nc_build_top(nc_build *build) {
    return build->depth == 0 ? NULL : &build->frames[build->depth - 1];
}

/// RFC 6901, 3: `~` and `/` in a name are written as `~0` and `~1`.
static void name_member(nc_buf *out, nc_slice written) {
    nc_buf name = nc_buf_init(out->max_bytes);
    nc_json_unescape(&name, written);
    nc_buf_append_byte(out, '/');
    for (size_t i = 0; i < name.length; i++) {
        bool is_marked = name.data[i] == '~' || name.data[i] == '/';
        nc_buf_append_byte(out, is_marked ? '~' : name.data[i]);
        if (is_marked) {
            nc_buf_append_byte(out, name.data[i] == '~' ? '0' : '1');
        }
    }
    nc_buf_deinit(&name);
}

/// Writes the JSON Pointer of the current position in the shape document, truncated to fit a line.
static void name_place(const nc_build *build, nc_buf *out) {
    for (uint32_t i = 0; i < build->depth; i++) {
        const nc_build_frame *frame = &build->frames[i];
        char index[16];
        snprintf(index, sizeof index, "/%u", frame->count - 1);
        if (frame->is_object && frame->name.data != NULL) {
            name_member(out, frame->name);
        } else if (!frame->is_object && frame->count > 0) {
            nc_buf_append(out, nc_slice_of(index));
        }
    }
}

bool nc_build_fail(nc_build *build, uint64_t offset, const char *format, ...) {
    char message[NC_ERROR_MESSAGE_BYTES];
    nc_buf place = nc_buf_init(120);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    name_place(build, &place);
    build->status = nc_error_set(build->err, NC_ERR_BAD_SHAPE, 0, (int64_t)offset, "at \"%.*s\": %s", (int)place.length,
                                 (const char *)place.data, message);
    nc_buf_deinit(&place);
    return false;
}

nc_shape_text nc_build_keep(nc_build *build, nc_slice text) {
    nc_shape_text kept = {(uint32_t)build->shape->text.length, (uint32_t)text.length};
    nc_buf_append(&build->shape->text, text);
    return kept;
}

static uint32_t add_node(nc_build *build, uint16_t types) {
    nc_shape_node node = {.types = types, .item = NC_NO_INDEX, .chain_at = NC_NO_INDEX};
    uint32_t index = (uint32_t)(build->shape->nodes.length / sizeof node);
    nc_buf_append(&build->shape->nodes, nc_slice_make(&node, sizeof node));
    return index;
}

/// Attaches a new node to its container.
static void attach(nc_build *build, uint32_t node) {
    nc_build_frame *frame = nc_build_top(build);
    if (frame == NULL || build->shape->nodes.status != NC_OK || build->pending.status != NC_OK) {
        return;
    }
    if (frame->is_object && frame->slot == NC_SLOT_SHAPE) {
        size_t last = build->pending.length / sizeof(nc_shape_member) - 1;
        ((nc_shape_member *)(void *)build->pending.data)[last].node = node;
    } else {
        nc_shape_node_at(build->shape, frame->node)->item = node;
        nc_shape_node_at(build->shape, frame->node)->asks |= NC_ASKS_ITEM;
    }
}

static bool open_frame(nc_build *build, const nc_json_token *token, nc_build_frame frame) {
    if (build->depth == NC_SHAPE_MAX_DEPTH) {
        return nc_build_fail(build, token->offset, "deeper than %u", NC_SHAPE_MAX_DEPTH);
    }
    frame.pending_at = (uint32_t)(build->pending.length / sizeof(nc_shape_member));
    frame.from = (size_t)token->offset;
    build->frames[build->depth++] = frame;
    if (build->depth > build->shape->depth) {
        build->shape->depth = build->depth;
    }
    return true;
}

static bool begin_shape(nc_build *build, const nc_json_token *token) {
    bool is_object = token->kind == NC_JSON_OBJECT;
    if (token->kind == NC_JSON_STRING) {
        nc_buf_reset(&build->scratch);
        nc_json_unescape(&build->scratch, token->text);
        nc_slice text = nc_buf_slice(&build->scratch);
        uint16_t types;
        if (!nc_shape_parse_types(&types, text)) {
            return nc_build_fail(build, token->offset, "unknown type \"%.*s\"",
                                 (int)(text.length < 64 ? text.length : 64), (const char *)text.data);
        }
        uint32_t node = add_node(build, types);
        nc_shape_text wanted = nc_build_keep(build, text);
        attach(build, node);
        if (build->shape->nodes.status == NC_OK) {
            nc_shape_node_at(build->shape, node)->wanted = wanted;
        }
        return true;
    }
    if (!is_object && token->kind != NC_JSON_ARRAY) {
        return nc_build_fail(build, token->offset, "a shape is wanted: a string of types, an object or an array");
    }
    uint32_t node = add_node(build, is_object ? 0 : NC_TYPE_ARRAY);
    attach(build, node);
    if (!is_object && build->shape->nodes.status == NC_OK) {
        nc_shape_text wanted = nc_build_keep(build, nc_slice_of("array"));
        nc_shape_node_at(build->shape, node)->wanted = wanted;
    }
    return open_frame(build, token, (nc_build_frame){.is_object = is_object, .node = node});
}

static bool take_directive(nc_build *build, const nc_json_token *token, nc_slice written) {
    nc_build_frame *frame = nc_build_top(build);
    if (!nc_build_find_directive(&frame->slot, written)) {
        return nc_build_fail(build, token->offset, "there is no such directive; a member's own $ is written $$");
    }
    uint16_t bit = (uint16_t)(1u << frame->slot);
    if ((frame->given & bit) != 0) {
        return nc_build_fail(build, token->offset, "this directive is there twice");
    }
    frame->given |= bit;
    return true;
}

static bool take_name(nc_build *build, const nc_json_token *token) {
    nc_build_frame *frame = nc_build_top(build);
    frame->name = token->text;
    nc_buf_reset(&build->scratch);
    nc_json_unescape(&build->scratch, token->text);
    nc_slice written = nc_buf_slice(&build->scratch);
    bool is_dollar = written.length > 0 && written.data[0] == '$';
    if (is_dollar && (written.length == 1 || written.data[1] != '$')) {
        return take_directive(build, token, written);
    }
    nc_shape_member member = {.node = NC_NO_INDEX, .next = NC_NO_INDEX};
    nc_buf name = nc_buf_init(NC_SHAPE_MAX_BYTES);
    nc_shape_parse_name(&name, &member.is_optional, written);
    member.name = nc_build_keep(build, nc_buf_slice(&name));
    if (name.status != NC_OK) {
        build->status = name.status;
    }
    nc_buf_deinit(&name);
    frame->slot = NC_SLOT_SHAPE;
    nc_buf_append(&build->pending, nc_slice_make(&member, sizeof member));
    if (member.name.length > build->shape->max_text_bytes) {
        build->shape->max_text_bytes = member.name.length;
    }
    return true;
}

/// Copies a short name to a buffer with eight readable bytes.
static nc_slice padded(nc_slice name, uint8_t room[8]) {
    if (name.length >= 8) {
        return name;
    }
    memset(room, 0, 8);
    if (name.length > 0) {
        memcpy(room, name.data, name.length);
    }
    return nc_slice_make(room, name.length);
}

/// Adds a member to its hash chain. Returns false if the name is taken.
static bool link_member(nc_shape *shape, nc_shape_node *node, uint32_t index) {
    uint8_t room[8];
    nc_shape_member *member = nc_shape_member_at(shape, index);
    nc_slice name = nc_shape_slice(shape, member->name);
    nc_slice key = padded(name, room);
    uint32_t *chain =
        nc_shape_chain_at(shape, node->chain_at + (nc_shape_hash(key.data, key.length) & node->chain_mask));
    for (uint32_t at = *chain; at != NC_NO_INDEX; at = nc_shape_member_at(shape, at)->next) {
        if (nc_slice_is_equal(nc_shape_slice(shape, nc_shape_member_at(shape, at)->name), name)) {
            return false;
        }
    }
    member->mask = nc_shape_mask(name.length);
    member->last_at = name.length >= 8 ? (uint32_t)name.length - 8 : 0;
    member->first = nc_shape_load(key.data) & member->mask;
    member->last = nc_shape_load(key.data + member->last_at) & member->mask;
    // A '\' is always escaped in a text, so such a name never equals its written form.
    bool is_escaped = name.length > 0 && memchr(name.data, '\\', name.length) != NULL;
    member->length = is_escaped ? NC_NO_INDEX - 1 : (uint32_t)name.length;
    member->next = *chain;
    *chain = index;
    node->required_count += member->is_optional ? 0 : 1;
    return true;
}

/// Gives a complete object its members, in hash chains. Returns false if two have the same name.
static bool link_members(nc_build *build, const nc_build_frame *frame, uint64_t offset) {
    nc_shape *shape = build->shape;
    size_t from = frame->pending_at * sizeof(nc_shape_member);
    nc_slice members = nc_slice_make(build->pending.data + from, build->pending.length - from);
    uint32_t count = (uint32_t)(members.length / sizeof(nc_shape_member));
    uint32_t first = (uint32_t)(shape->members.length / sizeof(nc_shape_member));
    uint32_t chains = 4;
    while (chains < count * 4) {
        chains *= 2;
    }
    nc_shape_node *node = nc_shape_node_at(shape, frame->node);
    node->asks |= NC_ASKS_MEMBERS;
    node->member_at = first;
    node->member_count = count;
    node->chain_at = (uint32_t)(shape->chains.length / sizeof(uint32_t));
    node->chain_mask = chains - 1;
    nc_buf_append(&shape->members, members);
    nc_shape_member end = {.length = NC_NO_INDEX, .node = NC_NO_INDEX, .next = NC_NO_INDEX};
    nc_buf_append(&shape->members, nc_slice_make(&end, sizeof end));
    uint32_t none = NC_NO_INDEX;
    for (uint32_t i = 0; i < chains; i++) {
        nc_buf_append(&shape->chains, nc_slice_make(&none, sizeof none));
    }
    build->pending.length = from;
    if (shape->members.status != NC_OK || shape->chains.status != NC_OK || shape->text.status != NC_OK) {
        return true;
    }
    for (uint32_t i = count; i-- > 0;) {
        if (!link_member(shape, node, first + i)) {
            nc_slice name = nc_shape_slice(shape, nc_shape_member_at(shape, first + i)->name);
            return nc_build_fail(build, offset, "the member \"%.*s\" is there twice",
                                 (int)(name.length < 64 ? name.length : 64), (const char *)name.data);
        }
    }
    return true;
}

static bool close_frame(nc_build *build, const nc_json_token *token) {
    nc_build_frame *frame = nc_build_top(build);
    frame->name = (nc_slice){0};
    if (frame->is_enum) {
        nc_slice text = nc_slice_make(build->document.data + frame->from, (size_t)token->offset + 1 - frame->from);
        nc_shape_text kept = nc_build_keep(build, text);
        nc_shape_node_at(build->shape, frame->node)->enum_text = kept;
        build->depth--;
        return true;
    }
    bool has_members = build->pending.length > frame->pending_at * sizeof(nc_shape_member) ||
                       (nc_shape_node_at(build->shape, frame->node)->asks & NC_ASKS_MEMBERS) != 0;
    if (frame->is_object && has_members && !link_members(build, frame, token->offset)) {
        return false;
    }
    if (frame->is_object && !nc_build_close_node(build, frame->node, token->offset)) {
        return false;
    }
    build->depth--;
    return true;
}

static bool begin_enum(nc_build *build, const nc_json_token *token) {
    nc_shape_node *node = nc_shape_node_at(build->shape, nc_build_top(build)->node);
    node->asks |= NC_ASKS_ENUM;
    node->enum_at = (uint32_t)(build->shape->values.length / sizeof(nc_shape_value));
    return open_frame(build, token, (nc_build_frame){.is_enum = true, .node = nc_build_top(build)->node});
}

static bool take_token(nc_build *build, const nc_json_token *token) {
    nc_build_frame *frame = nc_build_top(build);
    if (token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END) {
        return close_frame(build, token);
    }
    if (token->kind == NC_JSON_NAME) {
        return take_name(build, token);
    }
    if (frame != NULL && frame->is_enum) {
        frame->count++;
        return nc_build_enum(build, token);
    }
    if (frame != NULL && frame->is_object && frame->slot > NC_SLOT_ITEMS) {
        bool is_enum = frame->slot == NC_SLOT_ENUM && token->kind == NC_JSON_ARRAY;
        return is_enum ? begin_enum(build, token) : nc_build_directive(build, token);
    }
    if (frame != NULL && !frame->is_object && frame->count++ > 0) {
        return nc_build_fail(build, token->offset, "an array has one shape for all its elements");
    }
    return begin_shape(build, token);
}

static nc_status stored(const nc_build *build) {
    const nc_shape *shape = build->shape;
    const nc_buf *bufs[] = {&shape->nodes, &shape->members, &shape->values, &shape->chains,
                            &shape->text,  &build->pending, &build->scratch};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++) {
        if (bufs[i]->status != NC_OK) {
            return bufs[i]->status;
        }
    }
    return NC_OK;
}

static bool on_token(void *ctx, const nc_json_token *token) {
    nc_build *build = ctx;
    bool goes_on = take_token(build, token);
    if (build->status == NC_OK) {
        build->status = stored(build);
    }
    return goes_on && build->status == NC_OK;
}

/* --- documents --- */

static nc_shape *new_shape(void) {
    nc_shape *shape = nc_alloc_zeroed(1, sizeof *shape);
    if (shape != NULL) {
        const size_t most = (size_t)NC_SHAPE_MAX_BYTES * 64;
        atomic_init(&shape->references, 1);
        shape->max_text_bytes = NC_SHAPE_LEAST_TEXT;
        shape->nodes = nc_buf_init(most);
        shape->members = nc_buf_init(most);
        shape->values = nc_buf_init(most);
        shape->chains = nc_buf_init(most);
        shape->text = nc_buf_init(most);
    }
    return shape;
}

nc_status nc_shape_parse(nc_shape **out, nc_slice document, nc_error *err) {
    if (document.length > NC_SHAPE_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, NC_SHAPE_MAX_BYTES, "the shape is longer than %u bytes",
                            NC_SHAPE_MAX_BYTES);
    }
    nc_build *build = nc_alloc_zeroed(1, sizeof *build);
    nc_shape *shape = build != NULL ? new_shape() : NULL;
    if (shape == NULL) {
        nc_free(build);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a shape");
    }
    build->shape = shape;
    build->document = document;
    build->err = err;
    build->pending = nc_buf_init(shape->text.max_bytes);
    build->scratch = nc_buf_init(NC_SHAPE_MAX_BYTES);
    nc_error found;
    nc_status status = nc_json_read(document, NULL, on_token, build, NULL, &found);
    if (build->status == NC_ERR_NO_MEMORY || build->status == NC_ERR_TOO_LARGE) {
        status = nc_error_set(err, build->status, 0, -1, "no room for a shape");
    } else if (build->status != NC_OK) {
        status = build->status;
    } else if (status == NC_ERR_BAD_JSON) {
        status = nc_error_set(err, NC_ERR_BAD_SHAPE, 0, found.offset, "%s", found.message);
    } else if (status != NC_OK && err != NULL) {
        *err = found;
    }
    nc_buf_deinit(&build->pending);
    nc_buf_deinit(&build->scratch);
    nc_free(build);
    if (status != NC_OK) {
        nc_shape_release(shape);
        return status;
    }
    nc_shape_settle(shape);
    *out = shape;
    return nc_error_clear(err);
}
