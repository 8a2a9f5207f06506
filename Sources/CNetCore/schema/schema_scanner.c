#include "base/alloc.h"
#include "base/error.h"
#include "schema/evaluator.h"
#include "json/checker.h"

#include <inttypes.h>

/* --- hooks of a scan --- */

typedef struct scan_hooks {
    nc_evaluator *evaluator;
    nc_names *names; // NULL if duplicate names are allowed
    nc_scan *scan;
} scan_hooks;

#define HOOK_INLINE inline __attribute__((always_inline))

/// Makes the schemas of the next value pending, except those of a member, whose name did that. Returns false if there
/// are none, or if they accept a value of this kind.
static HOOK_INLINE bool begin_value(nc_evaluator *e, unsigned kind) {
    nc_evaluator_level *level = nc_level_count(e) > 0 ? nc_level_top(e) : NULL;
    if (level == NULL) {
        return true;
    }
    if (level->is_simple) {
        level->count += level->is_object ? 0 : 1;
        if (nc_level_accepts(e, level, kind)) {
            return false;
        }
        nc_evaluator_pend_simple(e, level);
    } else if (!level->is_object) {
        nc_evaluator_element(e);
    }
    return true;
}

static bool begin_container(nc_evaluator *e, bool is_object) {
    uint32_t first = nc_frame_count(e);
    nc_evaluator_expand(e, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY);
    if (!nc_evaluator_goes_on(e) || !nc_evaluator_spend(e)) {
        return false;
    }
    if (nc_frame_count(e) == first && !nc_evaluator_needs_hash(e, first)) {
        e->skipped_depth = 1;
        return true;
    }
    nc_evaluator_open(e, first, is_object);
    return nc_evaluator_goes_on(e);
}

static HOOK_INLINE bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    nc_evaluator *e = hooks->evaluator;
    if (is_object && hooks->names != NULL && !nc_names_begin(hooks->names)) {
        return nc_evaluator_stop(e, NC_ERR_NO_MEMORY, "");
    }
    if (e->skipped_depth > 0) {
        e->skipped_depth++;
        return true;
    }
    e->offset = offset;
    if (!begin_value(e, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY)) {
        e->skipped_depth = 1;
        return true;
    }
    return begin_container(e, is_object);
}

static HOOK_INLINE bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    nc_evaluator *e = hooks->evaluator;
    if (is_object && hooks->names != NULL) {
        nc_names_end(hooks->names);
    }
    if (e->skipped_depth == 0) {
        e->offset = offset;
        nc_evaluator_close(e);
    } else if (--e->skipped_depth == 0) {
        e->offset = offset;
        nc_evaluator_child_ended(e, NULL);
    }
    return nc_evaluator_goes_on(e);
}

static nc_scan_action begin_scalar(nc_evaluator *e, nc_json_kind kind, unsigned exact) {
    nc_hash128 hash;
    uint32_t first = nc_frame_count(e);
    nc_evaluator_expand(e, exact);
    if (!nc_evaluator_goes_on(e) || !nc_evaluator_spend(e)) {
        return NC_SCAN_STOP;
    }
    if (nc_frame_count(e) == first && !nc_evaluator_needs_hash(e, first)) {
        nc_evaluator_child_ended(e, NULL);
        return nc_evaluator_goes_on(e) ? NC_SCAN_SKIP : NC_SCAN_STOP;
    }
    e->first = first;
    if (kind < NC_JSON_TRUE) {
        return NC_SCAN_DELIVER;
    }
    if (nc_evaluator_end_scalar(e, first, &hash)) {
        nc_evaluator_child_ended(e, &hash);
    }
    return nc_evaluator_goes_on(e) ? NC_SCAN_SKIP : NC_SCAN_STOP;
}

static HOOK_INLINE nc_scan_action scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    if (hooks->evaluator->skipped_depth > 0) {
        return NC_SCAN_SKIP;
    }
    unsigned exact = kind == NC_JSON_NUMBER && is_plain ? (unsigned)NC_KIND_DIGITS : (unsigned)kind;
    hooks->evaluator->offset = offset;
    return begin_value(hooks->evaluator, exact) ? begin_scalar(hooks->evaluator, kind, exact) : NC_SCAN_SKIP;
}

static HOOK_INLINE bool scan_wants_name(const scan_hooks *hooks) {
    return hooks->evaluator->skipped_depth == 0 || hooks->names != NULL;
}

static void append_text(void *ctx, nc_slice characters) {
    nc_buf_append(ctx, characters);
}

/// Collects a text that has escapes or arrives in parts. Returns true if it is complete.
static bool collect(nc_evaluator *e, nc_json_kind kind, nc_slice part, unsigned flags, nc_slice *text) {
    if ((flags & NC_TEXT_FIRST) != 0) {
        e->text.length = 0;
        e->decoder = (nc_text_decoder){.keeps_lone_surrogates = true};
    }
    if (kind == NC_JSON_NUMBER) {
        nc_buf_append(&e->text, part);
    } else {
        nc_text_decode(&e->decoder, part, append_text, &e->text);
    }
    if ((flags & NC_TEXT_LAST) != 0 && kind != NC_JSON_NUMBER) {
        nc_text_decode_end(&e->decoder, append_text, &e->text);
    }
    *text = nc_buf_slice(&e->text);
    return nc_evaluator_check(e, &e->text, "max_text_bytes") && (flags & NC_TEXT_LAST) != 0;
}

static bool is_plain_text(nc_json_kind kind, nc_slice part, unsigned flags) {
    return (flags & NC_TEXT_WHOLE) == NC_TEXT_WHOLE &&
           (kind == NC_JSON_NUMBER || (flags & NC_TEXT_PLAIN) != 0 || part.length == 0 ||
            memchr(part.data, '\\', part.length) == NULL);
}

static bool on_text(nc_evaluator *e, nc_json_kind kind, nc_slice part, unsigned flags) {
    nc_slice text = part;
    nc_hash128 hash;
    if (!is_plain_text(kind, part, flags) && !collect(e, kind, part, flags, &text)) {
        if (kind == NC_JSON_STRING && nc_evaluator_goes_on(e)) {
            nc_evaluator_check_length(e, e->first, text);
        }
        return nc_evaluator_goes_on(e);
    }
    if (kind == NC_JSON_NAME) {
        if (nc_level_top(e)->is_simple) {
            nc_evaluator_simple_member(e, text);
        } else {
            nc_evaluator_member(e, text);
        }
        return nc_evaluator_goes_on(e);
    }
    e->scalar = text;
    if (nc_evaluator_end_scalar(e, e->first, &hash)) {
        nc_evaluator_child_ended(e, &hash);
    }
    return nc_evaluator_goes_on(e);
}

static HOOK_INLINE bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned flags,
                                     uint64_t offset) {
    nc_evaluator *e = hooks->evaluator;
    if (kind == NC_JSON_NAME && hooks->names != NULL) {
        nc_status status = nc_names_check(hooks->names, hooks->scan, part, flags, offset);
        if (status != NC_OK) {
            return status == NC_ERR_NO_MEMORY ? nc_evaluator_stop(e, status, "") : false;
        }
    }
    if (e->skipped_depth > 0) {
        return true;
    }
    e->offset = offset;
    return on_text(e, kind, part, flags);
}

/// The scanner skips containers without calling the hooks, unless names must be compared.
static HOOK_INLINE uint64_t scan_skipped_depth(const scan_hooks *hooks) {
    return hooks->names != NULL ? 0 : hooks->evaluator->skipped_depth;
}

static HOOK_INLINE void scan_set_skipped_depth(scan_hooks *hooks, uint64_t depth) {
    hooks->evaluator->skipped_depth = depth;
}

static HOOK_INLINE bool scan_look_ahead(scan_hooks *hooks, nc_token_cursor *cursor) {
    (void)hooks, (void)cursor;
    return false;
}

#define SCAN_LOOKS_AHEAD
#include "json/scanner.inc"

/* --- the checker of a validator --- */

static nc_status checker_scan(void *state, nc_names *names, nc_scan *scan, nc_slice piece, bool is_last) {
    nc_evaluator *e = state;
    scan_hooks hooks = {.evaluator = e, .names = names, .scan = scan};
    scan_piece(scan, &hooks, piece, is_last);
    if (e->has_failed && e->status == NC_OK && e->description.length == 0) {
        nc_evaluator_describe(e);
    }
    return e->status;
}

static void checker_reset(void *state) {
    nc_evaluator *e = state;
    const nc_pending root = {.node = 0, .parent = NC_SCHEMA_NONE, .role = NC_ROLE_REQUIRED};
    nc_buf *tables[] = {&e->frames, &e->levels, &e->pending, &e->words, &e->path, &e->names, &e->text, &e->description};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        nc_buf_reset(tables[i]);
    }
    if (e->unique != NULL) {
        nc_names_reset(e->unique);
    }
    e->skipped_depth = 0;
    e->steps = 0;
    e->offset = 0;
    e->has_failed = false;
    e->status = NC_OK;
    nc_buf_append(&e->pending, nc_slice_make(&root, sizeof root));
    (void)nc_evaluator_check(e, &e->pending, "");
}

static void checker_free(void *state) {
    nc_evaluator *e = state;
    if (e == NULL) {
        return;
    }
    nc_buf *tables[] = {&e->frames, &e->levels, &e->pending, &e->words, &e->path, &e->names, &e->text, &e->description};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        nc_buf_deinit(tables[i]);
    }
    nc_names_free(e->unique);
    nc_free(e->scratch);
    nc_schema_release(e->schema);
    nc_free(e);
}

static nc_slice described(const nc_evaluator *e, size_t part) {
    size_t from = part == 0 ? 0 : e->description_at[part - 1];
    return nc_slice_make(e->description.data == NULL ? NULL : e->description.data + from,
                         e->description_at[part] - from);
}

static bool checker_find_mismatch(const void *state, nc_shape_mismatch *out) {
    const nc_evaluator *e = state;
    *out = (nc_shape_mismatch){0};
    if (!e->has_failed || e->description.length == 0) {
        return false;
    }
    out->offset = e->failed_at;
    out->pointer = described(e, 0);
    out->wanted = described(e, 2);
    out->found = described(e, 3);
    return true;
}

static nc_status checker_report(const void *state, nc_error *err) {
    const nc_evaluator *e = state;
    if (e->status != NC_OK) {
        return nc_error_set(err, e->status, 0, (int64_t)e->offset, "checking the schema exceeds its limit: %s",
                            e->limit);
    }
    nc_slice pointer = described(e, 0);
    nc_slice keyword = described(e, 1);
    nc_slice wanted = described(e, 2);
    nc_slice found = described(e, 3);
    if (pointer.length == 0) {
        pointer = nc_slice_of("the root");
    }
    return nc_error_set(err, NC_ERR_SHAPE_MISMATCH, 0, (int64_t)e->failed_at,
                        "at %.*s: expected %.*s, found %.*s (%.*s)", (int)(pointer.length < 100 ? pointer.length : 100),
                        (const char *)pointer.data, (int)wanted.length, (const char *)wanted.data, (int)found.length,
                        (const char *)found.data, (int)(keyword.length < 100 ? keyword.length : 100),
                        (const char *)keyword.data);
}

static const nc_json_checker checker = {
    .scan = checker_scan,
    .reset = checker_reset,
    .free = checker_free,
    .find_mismatch = checker_find_mismatch,
    .report = checker_report,
};

/* --- public functions --- */

static nc_evaluator *evaluator_new(nc_schema *schema, const nc_schema_limits *limits) {
    nc_evaluator *e = nc_alloc_zeroed(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    e->limits = limits != NULL ? *limits : (nc_schema_limits){0};
    nc_schema_limits *own = &e->limits;
    own->max_frames = own->max_frames == 0 ? NC_SCHEMA_DEFAULT_MAX_FRAMES : own->max_frames;
    own->max_text_bytes = own->max_text_bytes == 0 ? NC_SCHEMA_DEFAULT_MAX_TEXT_BYTES : own->max_text_bytes;
    own->max_state_bytes = own->max_state_bytes == 0 ? NC_SCHEMA_DEFAULT_MAX_STATE_BYTES : own->max_state_bytes;
    own->steps_per_byte = own->steps_per_byte == 0 ? NC_SCHEMA_DEFAULT_STEPS_PER_BYTE : own->steps_per_byte;
    e->frames = nc_buf_init(own->max_frames * sizeof(nc_frame));
    e->levels = nc_buf_init(NC_JSON_MAX_DEPTH * sizeof(nc_evaluator_level));
    e->pending = nc_buf_init(own->max_frames * sizeof(nc_pending) + sizeof(nc_pending));
    e->words = nc_buf_init(own->max_state_bytes);
    e->path = nc_buf_init(own->max_state_bytes);
    e->names = nc_buf_init(own->max_text_bytes);
    e->text = nc_buf_init(own->max_text_bytes);
    e->description = nc_buf_init(NC_EVALUATOR_MAX_DESCRIPTION);
    e->schema = nc_schema_retain(schema);
    e->scratch = schema->scratch == 0 ? NULL : nc_alloc_zeroed(schema->scratch, sizeof *e->scratch);
    if (schema->scratch > 0 && e->scratch == NULL) {
        checker_free(e);
        return NULL;
    }
    checker_reset(e);
    return e;
}

nc_status nc_json_new_with_schema(nc_json **out, nc_schema *schema, const nc_schema_limits *limits,
                                  const nc_json_options *json, nc_error *err) {
    nc_evaluator *e = evaluator_new(schema, limits);
    if (e == NULL || e->status != NC_OK) {
        checker_free(e);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    nc_status status = nc_json_new_with_checker(out, &checker, e, json, err);
    if (status != NC_OK) {
        checker_free(e);
    }
    return status;
}

nc_schema_failure nc_json_schema_failure(const nc_json *json) {
    const nc_evaluator *e = nc_json_checker_state(json, &checker);
    nc_shape_mismatch mismatch = nc_json_mismatch_at(json, 0);
    if (e == NULL || mismatch.line == 0) {
        return (nc_schema_failure){0};
    }
    return (nc_schema_failure){.offset = mismatch.offset,
                               .line = mismatch.line,
                               .column = mismatch.column,
                               .instance = mismatch.pointer,
                               .keyword = described(e, 1),
                               .wanted = mismatch.wanted,
                               .found = mismatch.found};
}

nc_status nc_schema_check(nc_schema *schema, nc_slice text, const nc_schema_limits *limits, const nc_json_options *json,
                          nc_error *err) {
    nc_json *check = NULL;
    nc_status status = nc_json_new_with_schema(&check, schema, limits, json, err);
    if (status != NC_OK) {
        return status;
    }
    status = nc_json_feed(check, text, err);
    if (status == NC_OK) {
        status = nc_json_finish(check, err);
    }
    nc_json_free(check);
    return status;
}
