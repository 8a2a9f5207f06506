#include "base/alloc.h"
#include "base/error.h"
#include "json/checker.h"
#include "json/shape_match.h"

#include <string.h>

/* --- plain check --- */

/// Hooks of a scan that checks the grammar only. They do nothing.
typedef struct scan_hooks {
    char nothing;
} scan_hooks;

static inline bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)hooks, (void)is_object, (void)offset;
    return true;
}

static inline bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)hooks, (void)is_object, (void)offset;
    return true;
}

static inline nc_scan_action scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    (void)hooks, (void)kind, (void)is_plain, (void)offset;
    return NC_SCAN_SKIP;
}

static inline bool scan_wants_name(const scan_hooks *hooks) {
    (void)hooks;
    return false;
}

static inline bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned flags, uint64_t offset) {
    (void)hooks, (void)kind, (void)part, (void)flags, (void)offset;
    return true;
}

#include "json/scanner.inc"

/* --- check in pieces --- */

/// A piece up to this size is copied, and its lines are counted only if a later fault needs its position. Copying is
/// faster than counting, and most small texts have no fault.
enum { UNCOUNTED_BYTES = 1024 };

struct nc_json {
    nc_scan scan;
    nc_json_options options;
    nc_match *match; // NULL without a shape
    const nc_json_checker *checker;
    void *checker_state;
    nc_position mismatch_position; // of the checker's mismatch
    nc_position position;          // position before the uncounted bytes
    nc_position token_position;    // start of the token within which the previous piece ended
    size_t located;                // number of mismatches whose line is known
    nc_json_failure failure;
    nc_status status; // NC_OK, or the status that ended the check
    bool is_finished;
    size_t uncounted_bytes;
    uint8_t uncounted[UNCOUNTED_BYTES];
    nc_scan_memory memory;
};

static nc_status report_no_memory(nc_error *err) {
    return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
}

nc_status nc_json_new(nc_json **out, const nc_json_options *options, nc_error *err) {
    nc_json *json = nc_alloc(sizeof *json);
    if (json == NULL) {
        return report_no_memory(err);
    }
    nc_status status = nc_scan_memory_init(&json->memory, options, err);
    if (status != NC_OK) {
        nc_free(json);
        return status;
    }
    json->options = options != NULL ? *options : (nc_json_options){0};
    json->match = NULL;
    json->checker = NULL;
    nc_json_reset(json);
    *out = json;
    return nc_error_clear(err);
}

nc_status nc_json_new_with_checker(nc_json **out, const nc_json_checker *checker, void *state,
                                   const nc_json_options *options, nc_error *err) {
    nc_status status = nc_json_new(out, options, err);
    if (status == NC_OK) {
        (*out)->checker = checker;
        (*out)->checker_state = state;
    }
    return status;
}

const void *nc_json_checker_state(const nc_json *json, const nc_json_checker *checker) {
    return json->checker == checker ? json->checker_state : NULL;
}

static nc_status check_options(const nc_shape_options *options, nc_error *err) {
    bool is_allowed = options == NULL || options->max_mismatches <= NC_SHAPE_MAX_MISMATCHES;
    return is_allowed ? NC_OK
                      : nc_error_set(err, NC_ERR_USAGE, 0, -1, "max_mismatches is above %u", NC_SHAPE_MAX_MISMATCHES);
}

nc_status nc_json_new_matching(nc_json **out, nc_shape *shape, const nc_shape_options *options,
                               const nc_json_options *json_options, nc_error *err) {
    nc_json *json = NULL;
    nc_status status = check_options(options, err);
    if (status == NC_OK) {
        status = nc_json_new(&json, json_options, err);
    }
    if (status != NC_OK) {
        return status;
    }
    if (nc_match_new(&json->match, shape, options) != NC_OK) {
        nc_json_free(json);
        return report_no_memory(err);
    }
    *out = json;
    return NC_OK;
}

void nc_json_free(nc_json *json) {
    if (json != NULL) {
        nc_match_free(json->match);
        if (json->checker != NULL) {
            json->checker->free(json->checker_state);
        }
        nc_scan_memory_deinit(&json->memory);
        nc_free(json);
    }
}

void nc_json_reset(nc_json *json) {
    nc_scan_init(&json->scan, &json->options, json->memory.parents);
    if (json->memory.names != NULL) {
        nc_names_reset(json->memory.names);
    }
    if (json->match != NULL) {
        nc_match_reset(json->match);
    }
    if (json->checker != NULL) {
        json->checker->reset(json->checker_state);
    }
    json->mismatch_position = (nc_position){0};
    json->position = (nc_position){0};
    json->token_position = (nc_position){0};
    json->uncounted_bytes = 0;
    json->located = 0;
    json->failure = (nc_json_failure){0};
    json->status = NC_OK;
    json->is_finished = false;
}

/* --- positions --- */

/// Advances the position over the piece that was copied instead of counted.
static void advance_over_uncounted(nc_json *json) {
    nc_position_advance(&json->position, nc_slice_make(json->uncounted, json->uncounted_bytes));
    json->uncounted_bytes = 0;
}

/// Returns the position of the byte at `offset`. `before` is the offset of the piece. A smaller `offset` is always the
/// start of the token within which the previous piece ended.
static nc_position position_of(nc_json *json, nc_slice piece, uint64_t before, uint64_t offset) {
    if (offset < before) {
        return json->token_position;
    }
    advance_over_uncounted(json);
    nc_position position = json->position;
    nc_position_advance(&position, nc_slice_make(piece.data, (size_t)(offset - before)));
    return position;
}

/// Sets line and column of this piece's mismatches. One pass is enough, because they are in the order of the text.
static void locate_mismatches(nc_json *json, nc_slice piece, uint64_t before) {
    advance_over_uncounted(json);
    nc_position position = json->position;
    uint64_t reached = before;
    for (; json->located < nc_match_count(json->match); json->located++) {
        nc_match_mismatch *mismatch = nc_match_mismatch_at(json->match, json->located);
        nc_position at = json->token_position;
        if (mismatch->offset >= reached) {
            nc_position_advance(&position,
                                nc_slice_make(piece.data + (reached - before), (size_t)(mismatch->offset - reached)));
            reached = mismatch->offset;
            at = position;
        }
        mismatch->line = at.line_feeds + 1;
        mismatch->column = at.characters + 1;
    }
}

/// Advances the position over a piece. If the piece ends within a token, records where that token begins.
static void advance(nc_json *json, nc_slice piece, uint64_t before) {
    const nc_scan *scan = &json->scan;
    size_t at = 0;
    advance_over_uncounted(json);
    if (scan->inside == NC_INSIDE_NOTHING && piece.length <= sizeof json->uncounted) {
        if (piece.length > 0) {
            memcpy(json->uncounted, piece.data, piece.length);
        }
        json->uncounted_bytes = piece.length;
        return;
    }
    if (scan->inside != NC_INSIDE_NOTHING && scan->token_offset >= before) {
        at = (size_t)(scan->token_offset - before);
        nc_position_advance(&json->position, nc_slice_make(piece.data, at));
        json->token_position = json->position;
    }
    nc_position_advance(&json->position, nc_slice_make(piece.length == 0 ? NULL : piece.data + at, piece.length - at));
}

/* --- pieces --- */

/// Fills `err` for the first mismatch. A long pointer is truncated.
static nc_status report_mismatch(const nc_json *json, nc_error *err) {
    nc_shape_mismatch first = nc_json_mismatch_at(json, 0);
    bool is_whole = first.pointer.length == 0;
    nc_slice pointer = is_whole ? nc_slice_of("the root") : first.pointer;
    int shown = pointer.length < 120 ? (int)pointer.length : 120;
    const char *cut = pointer.length > 120 ? "…" : "";
    if (nc_slice_is_equal(first.found, nc_slice_of(NC_SHAPE_UNKNOWN_MEMBER))) {
        return nc_error_set(err, NC_ERR_SHAPE_MISMATCH, 0, (int64_t)first.offset, "unknown member at %.*s%s", shown,
                            (const char *)pointer.data, cut);
    }
    return nc_error_set(err, NC_ERR_SHAPE_MISMATCH, 0, (int64_t)first.offset, "at %.*s%s: expected %.*s, found %.*s",
                        shown, (const char *)pointer.data, cut, (int)first.wanted.length,
                        (const char *)first.wanted.data, (int)first.found.length, (const char *)first.found.data);
}

/// Fills `err` for the current result, and returns its status.
static nc_status result_of(const nc_json *json, nc_error *err) {
    switch (json->status) {
    case NC_OK:
        return nc_error_clear(err);
    case NC_ERR_NO_MEMORY:
        return report_no_memory(err);
    case NC_ERR_SHAPE_MISMATCH:
        return json->checker != NULL ? json->checker->report(json->checker_state, err) : report_mismatch(json, err);
    case NC_ERR_TOO_LARGE:
        return json->checker->report(json->checker_state, err);
    default:
        return nc_scan_report_failure(&json->failure, err);
    }
}

/// Scans a piece with the fastest scanner that supports the options.
static void scan_with_fastest(nc_json *json, nc_slice piece, bool is_last) {
    nc_scan *scan = &json->scan;
    if (json->checker != NULL) {
        json->status = json->checker->scan(json->checker_state, json->memory.names, scan, piece, is_last);
    } else if (json->memory.names != NULL) {
        json->status = nc_names_scan(json->memory.names, json->match, scan, piece, is_last);
    } else if (json->match != NULL) {
        json->status = nc_match_scan(json->match, scan, piece, is_last);
    } else {
        scan_hooks hooks = {0};
        scan_piece(scan, &hooks, piece, is_last);
    }
}

/// Scans a piece. Also determines line and column of its faults, because the piece is not available later.
static nc_status check_piece(nc_json *json, nc_slice piece, bool is_last, nc_error *err) {
    nc_scan *scan = &json->scan;
    uint64_t before = scan->offset;
    scan_with_fastest(json, piece, is_last);
    size_t mismatches = nc_json_mismatch_count(json);
    if (mismatches > 0 && json->checker != NULL) {
        nc_shape_mismatch mismatch;
        (void)json->checker->find_mismatch(json->checker_state, &mismatch);
        json->mismatch_position = position_of(json, piece, before, mismatch.offset);
    } else if (mismatches > 0) {
        locate_mismatches(json, piece, before);
    }
    if (json->status != NC_OK) {
        return result_of(json, err);
    }
    if (scan->fault != NC_JSON_FAULT_NONE) {
        nc_scan_describe_fault(&json->failure, scan, position_of(json, piece, before, scan->fault_offset));
        json->status = NC_ERR_BAD_JSON;
    } else if (mismatches > 0 && (is_last || scan->is_stopped)) {
        json->status = NC_ERR_SHAPE_MISMATCH;
    } else if (!is_last) {
        advance(json, piece, before);
    }
    return result_of(json, err);
}

nc_status nc_json_feed(nc_json *json, nc_slice piece, nc_error *err) {
    if (json->is_finished && json->status == NC_OK) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the JSON text was already finished and accepts no more input");
    }
    return json->status != NC_OK ? result_of(json, err) : check_piece(json, piece, false, err);
}

nc_status nc_json_finish(nc_json *json, nc_error *err) {
    bool has_ended = json->is_finished || json->status != NC_OK;
    json->is_finished = true;
    return has_ended ? result_of(json, err) : check_piece(json, (nc_slice){0}, true, err);
}

/* --- results --- */

const nc_json_failure *nc_json_failure_of(const nc_json *json) {
    return &json->failure;
}

bool nc_json_is_blank(const nc_json *json) {
    const nc_scan *scan = &json->scan;
    bool is_sound = scan->fault == NC_JSON_FAULT_NONE || scan->fault == NC_JSON_FAULT_ENDED;
    return is_sound && scan->state == NC_SCAN_VALUE && scan->depth == 0;
}

uint64_t nc_json_bytes(const nc_json *json) {
    return json->failure.fault != NC_JSON_FAULT_NONE ? json->failure.offset : json->scan.offset;
}

size_t nc_json_mismatch_count(const nc_json *json) {
    nc_shape_mismatch mismatch;
    if (json->checker != NULL) {
        return json->checker->find_mismatch(json->checker_state, &mismatch) ? 1 : 0;
    }
    return json->match == NULL ? 0 : nc_match_count(json->match);
}

nc_shape_mismatch nc_json_mismatch_at(const nc_json *json, size_t index) {
    if (index >= nc_json_mismatch_count(json)) {
        return (nc_shape_mismatch){0};
    }
    if (json->checker != NULL) {
        nc_shape_mismatch found;
        (void)json->checker->find_mismatch(json->checker_state, &found);
        found.line = json->mismatch_position.line_feeds + 1;
        found.column = json->mismatch_position.characters + 1;
        return found;
    }
    const nc_match_mismatch *mismatch = nc_match_mismatch_at(json->match, index);
    const uint8_t *text = json->match->descriptions.data;
    return (nc_shape_mismatch){
        .offset = mismatch->offset,
        .line = mismatch->line,
        .column = mismatch->column,
        .pointer = {text + mismatch->pointer_at, mismatch->expected_at - mismatch->pointer_at},
        .wanted = {text + mismatch->expected_at, mismatch->actual_at - mismatch->expected_at},
        .found = {text + mismatch->actual_at, mismatch->end - mismatch->actual_at},
    };
}

/* --- whole texts --- */

/// Prepares a check on the stack, for one call. The caller releases `json->memory`.
static nc_status begin_single_check(nc_json *json, const nc_json_options *options, nc_error *err) {
    nc_status status = nc_scan_memory_init(&json->memory, options, err);
    if (status == NC_OK) {
        json->options = options != NULL ? *options : (nc_json_options){0};
        json->match = NULL;
        json->checker = NULL;
        nc_json_reset(json);
    }
    return status;
}

nc_status nc_json_check(nc_slice text, const nc_json_options *options, nc_json_failure *failure, nc_error *err) {
    nc_json json;
    nc_status status = begin_single_check(&json, options, err);
    if (status != NC_OK) {
        return status;
    }
    status = check_piece(&json, text, true, err);
    if (failure != NULL) {
        *failure = json.failure;
    }
    nc_scan_memory_deinit(&json.memory);
    return status;
}

nc_status nc_shape_check(nc_shape *shape, nc_slice text, const nc_shape_options *options,
                         const nc_json_options *json_options, nc_error *err) {
    nc_json json;
    // On the stack, because for small shapes and texts an allocation would take most of the time.
    union {
        nc_match match;
        uint8_t bytes[2048];
    } storage;
    nc_status status = check_options(options, err);
    if (status == NC_OK) {
        status = begin_single_check(&json, json_options, err);
    }
    if (status != NC_OK) {
        return status;
    }
    size_t bytes = nc_match_size(shape);
    json.match = bytes <= sizeof storage ? &storage.match : nc_alloc(bytes);
    if (json.match == NULL) {
        status = report_no_memory(err);
    } else {
        nc_match_init(json.match, shape, options);
        status = check_piece(&json, text, true, err);
        nc_match_deinit(json.match);
        if (json.match != &storage.match) {
            nc_free(json.match);
        }
    }
    nc_scan_memory_deinit(&json.memory);
    return status;
}
