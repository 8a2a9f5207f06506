#include "base/alloc.h"
#include "base/error.h"
#include "json/check.h"
#include "json/failure.h"
#include "json/match_words.h"
#include "json/room.h"

#include <string.h>

/// A piece up to this size is copied in case its lines are needed. Copying is cheaper than counting lines: most small
/// texts come in one piece and have no fault.
enum { UNCOUNTED_BYTES = 1024 };

struct nc_json {
    nc_scan scan;
    nc_json_options options;
    nc_match *match;      // NULL without a shape
    nc_place place;       // of the next piece, after the uncounted bytes are counted
    nc_place token_place; // start of the token that the previous piece broke off in
    size_t placed;        // mismatches whose line is known
    nc_json_failure failure;
    nc_status status; // NC_OK, or the status that ended the check
    bool is_finished;
    size_t uncounted_bytes;
    uint8_t uncounted[UNCOUNTED_BYTES];
    nc_room room;
};

static nc_status run_out(nc_error *err) {
    return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
}

nc_status nc_json_new(nc_json **out, const nc_json_options *options, nc_error *err) {
    nc_json *json = nc_alloc(sizeof *json);
    if (json == NULL) {
        return run_out(err);
    }
    nc_status status = nc_room_init(&json->room, options, err);
    if (status != NC_OK) {
        nc_free(json);
        return status;
    }
    json->options = options != NULL ? *options : (nc_json_options){0};
    json->match = NULL;
    nc_json_reset(json);
    *out = json;
    return nc_error_clear(err);
}

static nc_status check_options(const nc_shape_options *options, nc_error *err) {
    bool is_right = options == NULL || options->max_mismatches <= NC_SHAPE_MAX_MISMATCHES;
    return is_right ? NC_OK
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
        return run_out(err);
    }
    *out = json;
    return NC_OK;
}

void nc_json_free(nc_json *json) {
    if (json != NULL) {
        nc_match_free(json->match);
        nc_room_deinit(&json->room);
        nc_free(json);
    }
}

void nc_json_reset(nc_json *json) {
    nc_scan_init(&json->scan, &json->options, json->room.kinds);
    if (json->room.names != NULL) {
        nc_names_reset(json->room.names);
    }
    if (json->match != NULL) {
        nc_match_reset(json->match);
    }
    json->place = (nc_place){0};
    json->token_place = (nc_place){0};
    json->uncounted_bytes = 0;
    json->placed = 0;
    json->failure = (nc_json_failure){0};
    json->status = NC_OK;
    json->is_finished = false;
}

/* --- positions --- */

static void count_on(nc_json *json) {
    nc_place_pass(&json->place, nc_slice_make(json->uncounted, json->uncounted_bytes));
    json->uncounted_bytes = 0;
}

/// Returns the position of a byte of this piece, or the start of the token that the previous piece broke off in.
static nc_place place_of(nc_json *json, nc_slice piece, uint64_t before, uint64_t offset) {
    if (offset < before) {
        return json->token_place;
    }
    count_on(json);
    nc_place place = json->place;
    nc_place_pass(&place, nc_slice_make(piece.data, (size_t)(offset - before)));
    return place;
}

/// Sets the lines of this piece's mismatches. They are in the order of the text, so one pass is enough.
static void place_notes(nc_json *json, nc_slice piece, uint64_t before) {
    count_on(json);
    nc_place place = json->place;
    uint64_t passed = before;
    for (; json->placed < nc_match_count(json->match); json->placed++) {
        nc_match_note *note = nc_match_note_at(json->match, json->placed);
        nc_place at = json->token_place;
        if (note->offset >= passed) {
            nc_place_pass(&place, nc_slice_make(piece.data + (passed - before), (size_t)(note->offset - passed)));
            passed = note->offset;
            at = place;
        }
        note->line = at.line_feeds + 1;
        note->column = at.characters + 1;
    }
}

/// Counts over a piece, and records where a token begins that the piece ends in.
static void pass(nc_json *json, nc_slice piece, uint64_t before) {
    const nc_scan *scan = &json->scan;
    size_t at = 0;
    count_on(json);
    if (scan->inside == NC_INSIDE_NOTHING && piece.length <= sizeof json->uncounted) {
        if (piece.length > 0) {
            memcpy(json->uncounted, piece.data, piece.length);
        }
        json->uncounted_bytes = piece.length;
        return;
    }
    if (scan->inside != NC_INSIDE_NOTHING && scan->token_offset >= before) {
        at = (size_t)(scan->token_offset - before);
        nc_place_pass(&json->place, nc_slice_make(piece.data, at));
        json->token_place = json->place;
    }
    nc_place_pass(&json->place, nc_slice_make(piece.length == 0 ? NULL : piece.data + at, piece.length - at));
}

/* --- pieces --- */

static nc_status report_mismatch(const nc_json *json, nc_error *err) {
    nc_shape_mismatch first = nc_json_mismatch_at(json, 0);
    bool is_whole = first.pointer.length == 0;
    nc_slice pointer = is_whole ? nc_slice_of("the root") : first.pointer;
    int shown = pointer.length < 120 ? (int)pointer.length : 120;
    return nc_error_set(err, NC_ERR_SHAPE_MISMATCH, 0, (int64_t)first.offset, "at %.*s%s: wanted %.*s, found %.*s",
                        shown, (const char *)pointer.data, pointer.length > 120 ? "…" : "", (int)first.wanted.length,
                        (const char *)first.wanted.data, (int)first.found.length, (const char *)first.found.data);
}

/// Reports the earlier failure again.
static nc_status repeat(const nc_json *json, nc_error *err) {
    switch (json->status) {
    case NC_OK:
        return nc_error_clear(err);
    case NC_ERR_NO_MEMORY:
        return run_out(err);
    case NC_ERR_SHAPE_MISMATCH:
        return report_mismatch(json, err);
    default:
        return nc_failure_report(&json->failure, err);
    }
}

static void scan_piece(nc_json *json, nc_slice piece, bool is_last) {
    nc_scan *scan = &json->scan;
    if (json->match != NULL && json->room.names != NULL) {
        json->status = nc_check_shape_names(scan, json->match, json->room.names, piece, is_last);
    } else if (json->match != NULL) {
        json->status = nc_check_shape(scan, json->match, piece, is_last);
    } else if (json->room.names != NULL) {
        json->status = nc_check_names(scan, json->room.names, piece, is_last);
    } else {
        nc_check_plain(scan, piece, is_last);
    }
}

static nc_status take(nc_json *json, nc_slice piece, bool is_last, nc_error *err) {
    nc_scan *scan = &json->scan;
    uint64_t before = scan->offset;
    scan_piece(json, piece, is_last);
    size_t mismatches = json->match != NULL ? nc_match_count(json->match) : 0;
    if (mismatches > 0) {
        place_notes(json, piece, before);
    }
    if (json->status != NC_OK) {
        return repeat(json, err);
    }
    if (scan->fault != NC_JSON_FAULT_NONE) {
        nc_failure_fill(&json->failure, scan, place_of(json, piece, before, scan->fault_offset));
        json->status = NC_ERR_BAD_JSON;
    } else if (mismatches > 0 && (is_last || scan->is_stopped)) {
        json->status = NC_ERR_SHAPE_MISMATCH;
    } else if (!is_last) {
        pass(json, piece, before);
    }
    return repeat(json, err);
}

nc_status nc_json_feed(nc_json *json, nc_slice piece, nc_error *err) {
    if (json->is_finished && json->status == NC_OK) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the text has ended");
    }
    return json->status != NC_OK ? repeat(json, err) : take(json, piece, false, err);
}

nc_status nc_json_finish(nc_json *json, nc_error *err) {
    bool has_ended = json->is_finished || json->status != NC_OK;
    json->is_finished = true;
    return has_ended ? repeat(json, err) : take(json, (nc_slice){0}, true, err);
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
    return json->match == NULL ? 0 : nc_match_count(json->match);
}

nc_shape_mismatch nc_json_mismatch_at(const nc_json *json, size_t index) {
    if (index >= nc_json_mismatch_count(json)) {
        return (nc_shape_mismatch){0};
    }
    const nc_match_note *note = nc_match_note_at(json->match, index);
    const uint8_t *words = json->match->words.data;
    return (nc_shape_mismatch){
        .offset = note->offset,
        .line = note->line,
        .column = note->column,
        .pointer = {words + note->pointer_at, note->wanted_at - note->pointer_at},
        .wanted = {words + note->wanted_at, note->found_at - note->wanted_at},
        .found = {words + note->found_at, note->end - note->found_at},
    };
}

/* --- whole texts --- */

/// Prepares a check that lives for one call. The room and the match own everything it allocates.
static nc_status begin_at_once(nc_json *json, const nc_json_options *options, nc_error *err) {
    nc_status status = nc_room_init(&json->room, options, err);
    if (status == NC_OK) {
        json->options = options != NULL ? *options : (nc_json_options){0};
        json->match = NULL;
        nc_json_reset(json);
    }
    return status;
}

nc_status nc_json_check(nc_slice text, const nc_json_options *options, nc_json_failure *failure, nc_error *err) {
    nc_json json;
    nc_status status = begin_at_once(&json, options, err);
    if (status != NC_OK) {
        return status;
    }
    status = take(&json, text, true, err);
    if (failure != NULL) {
        *failure = json.failure;
    }
    nc_room_deinit(&json.room);
    return status;
}

nc_status nc_shape_check(nc_shape *shape, nc_slice text, const nc_shape_options *options,
                         const nc_json_options *json_options, nc_error *err) {
    nc_json json;
    // Most shapes and many texts are small, so an allocation would dominate.
    union {
        nc_match match;
        uint8_t bytes[2048];
    } usual;
    nc_status status = check_options(options, err);
    if (status == NC_OK) {
        status = begin_at_once(&json, json_options, err);
    }
    if (status != NC_OK) {
        return status;
    }
    size_t bytes = nc_match_size(shape);
    json.match = bytes <= sizeof usual ? &usual.match : nc_alloc(bytes);
    if (json.match == NULL) {
        status = run_out(err);
    } else {
        nc_match_init(json.match, shape, options);
        status = take(&json, text, true, err);
        nc_match_deinit(json.match);
        if (json.match != &usual.match) {
            nc_free(json.match);
        }
    }
    nc_room_deinit(&json.room);
    return status;
}
