#include "body/coding.h"

#include "base/alloc.h"
#include "base/error.h"
#include "body/coding_list.h"

#include <string.h>

/// One coding of the chain, with its output that the next one has not consumed.
typedef struct stage {
    const nc_decoder_kind *kind;
    void *state;
    /// Within `bytes`.
    nc_slice ready;
    /// Reported when the output before it has been consumed.
    nc_error failure;
    uint8_t bytes[NC_CODING_PIECE_BYTES];
} stage;

struct nc_coding {
    /// The remaining input: borrowed, or within `kept`.
    nc_slice input;
    nc_buf kept;
    bool is_kept;
    /// True after the first byte.
    bool has_begun;
    /// No stage can return anything without more input.
    bool is_idle;
    /// Bytes that the stages consumed since the last piece.
    size_t silent_bytes;
    /// The first error, which is permanent.
    nc_error failure;
    size_t stage_count;
    /// In the order of decoding.
    stage stages[];
};

/* --- available codings --- */

bool nc_coding_has_brotli(void) {
    return nc_decoder_brotli() != NULL;
}

bool nc_coding_has_zstd(void) {
    return nc_decoder_zstd() != NULL;
}

const char *nc_coding_accepted(void) {
    if (nc_coding_has_brotli()) {
        return nc_coding_has_zstd() ? "gzip, deflate, br, zstd" : "gzip, deflate, br";
    }
    return nc_coding_has_zstd() ? "gzip, deflate, zstd" : "gzip, deflate";
}

/* --- creating and freeing --- */

/// Checks every name before anything is created.
static nc_status count_codings(size_t *out, const nc_slice *values, size_t count, uint32_t max_codings, nc_error *err) {
    nc_coding_list list = nc_coding_list_init(values, count);
    const nc_decoder_kind *kind = NULL;
    size_t codings = 0;
    for (;;) {
        nc_status status = nc_coding_list_next(&list, &kind, err);
        if (status != NC_OK) {
            return status;
        }
        if (kind == NULL) {
            *out = codings;
            return NC_OK;
        }
        if (codings++ == max_codings) {
            return nc_error_set(err, NC_ERR_BAD_CODING, 0, -1, "there are more than %u content codings", max_codings);
        }
    }
}

static bool is_missing(const nc_slice *values, size_t count) {
    if (values == NULL) {
        return count != 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (values[i].data == NULL && values[i].length != 0) {
            return true;
        }
    }
    return false;
}

/// Allocates the chain without its stages; NULL without memory.
static nc_coding *new_empty(size_t codings) {
    size_t bytes = 0;
    if (!nc_size_mul(&bytes, codings, sizeof(stage)) || !nc_size_add(&bytes, bytes, sizeof(nc_coding))) {
        return NULL;
    }
    nc_coding *coding = nc_alloc_zeroed(1, bytes);
    if (coding != NULL) {
        coding->kept = nc_buf_init(NC_CODING_KEPT_MAX_BYTES);
        coding->is_idle = true;
    }
    return coding;
}

static bool stage_init(stage *at, nc_coding_list *list) {
    if (nc_coding_list_next(list, &at->kind, NULL) != NC_OK) {
        return false;
    }
    at->state = at->kind->new_state();
    return at->state != NULL;
}

nc_status nc_coding_new(nc_coding **out, const nc_slice *values, size_t count, uint32_t max_codings, nc_error *err) {
    if (out == NULL || is_missing(values, count)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a pointer is NULL");
    }
    size_t codings = 0;
    nc_status status = count_codings(&codings, values, count, max_codings, err);
    if (status != NC_OK) {
        return status;
    }
    nc_coding *coding = new_empty(codings);
    bool has_all = coding != NULL;
    nc_coding_list list = nc_coding_list_init(values, count);
    for (size_t i = 0; has_all && i < codings; i++) {
        has_all = stage_init(&coding->stages[i], &list);
        coding->stage_count += has_all ? 1 : 0;
    }
    if (!has_all) {
        nc_coding_free(coding);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "memory ran out for %zu content codings", codings);
    }
    *out = coding;
    return nc_error_clear(err);
}

void nc_coding_free(nc_coding *coding) {
    if (coding == NULL) {
        return;
    }
    for (size_t i = 0; i < coding->stage_count; i++) {
        coding->stages[i].kind->free_state(coding->stages[i].state);
    }
    nc_buf_deinit(&coding->kept);
    nc_free(coding);
}

size_t nc_coding_count(const nc_coding *coding) {
    return coding == NULL ? 0 : coding->stage_count;
}

/* --- errors --- */

/// Returns the permanent error.
static nc_status repeat_failure(const nc_coding *coding, nc_error *err) {
    if (err != NULL) {
        *err = coding->failure;
    }
    return coding->failure.status;
}

static nc_status fail_to_keep(nc_coding *coding, nc_error *err) {
    nc_status status = nc_buf_status(&coding->kept);
    (void)nc_error_set(&coding->failure, status, 0, -1, "coded bytes cannot be kept: %s", nc_status_text(status));
    return repeat_failure(coding, err);
}

/* --- input --- */

nc_status nc_coding_feed(nc_coding *coding, nc_slice bytes, nc_error *err) {
    if (coding == NULL || (bytes.data == NULL && bytes.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the chain or its input is NULL");
    }
    if (coding->failure.status != NC_OK) {
        return repeat_failure(coding, err);
    }
    if (bytes.length == 0) {
        return nc_error_clear(err);
    }
    if (coding->input.length == 0) {
        coding->input = bytes;
        coding->is_kept = false;
    } else if (!coding->is_kept) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "borrowed input is left that was neither taken nor kept");
    } else {
        size_t taken = coding->kept.length - coding->input.length;
        // Move the rest to the front only if it is not longer than the consumed part: each byte is then moved once on
        // average.
        if (taken >= coding->input.length) {
            memmove(coding->kept.data, coding->input.data, coding->input.length);
            coding->kept.length -= taken;
            taken = 0;
        }
        nc_buf_append(&coding->kept, bytes);
        if (nc_buf_status(&coding->kept) != NC_OK) {
            return fail_to_keep(coding, err);
        }
        coding->input = nc_slice_make(coding->kept.data + taken, coding->kept.length - taken);
    }
    coding->has_begun = true;
    coding->is_idle = false;
    return nc_error_clear(err);
}

nc_status nc_coding_keep(nc_coding *coding, nc_error *err) {
    if (coding == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the chain is NULL");
    }
    if (coding->failure.status != NC_OK) {
        return repeat_failure(coding, err);
    }
    if (!coding->is_kept && coding->input.length != 0) {
        nc_buf_reset(&coding->kept);
        nc_buf_append(&coding->kept, coding->input);
        if (nc_buf_status(&coding->kept) != NC_OK) {
            return fail_to_keep(coding, err);
        }
        coding->input = nc_buf_slice(&coding->kept);
        coding->is_kept = true;
    }
    return nc_error_clear(err);
}

bool nc_coding_has_input(const nc_coding *coding) {
    return coding != NULL && coding->failure.status == NC_OK && !coding->is_idle;
}

/* --- output --- */

/// Removes at most a piece from the front.
static nc_slice take(nc_slice *from) {
    size_t length = from->length < NC_CODING_PIECE_BYTES ? from->length : NC_CODING_PIECE_BYTES;
    nc_slice taken = nc_slice_make(from->data, length);
    if (length != 0) {
        *from = nc_slice_make(from->data + length, from->length - length);
    }
    return taken;
}

/// Runs a stage once. Its buffer must be empty.
static nc_status run(stage *at, nc_slice *in, size_t *silent_bytes) {
    if (at->failure.status != NC_OK) {
        return at->failure.status;
    }
    // Limit the input: brotli would consume 16 MiB before it returns anything.
    nc_slice offered = {in->data, in->length < NC_CODING_PIECE_BYTES ? in->length : NC_CODING_PIECE_BYTES};
    nc_decoder_io io = {offered, at->bytes, NC_CODING_PIECE_BYTES};
    nc_status status = at->kind->decode(at->state, &io, &at->failure);
    size_t taken = offered.length - io.in.length;
    *in = nc_slice_make(taken == 0 ? in->data : in->data + taken, in->length - taken);
    at->ready = nc_slice_make(at->bytes, NC_CODING_PIECE_BYTES - io.room);
    *silent_bytes += taken;
    if (at->ready.length != 0) {
        return NC_OK;
    }
    if (status == NC_OK && taken == 0 && in->length != 0) {
        return nc_error_set(&at->failure, NC_ERR_INTERNAL, 0, -1, "the %s decoder stands still", at->kind->name);
    }
    if (status == NC_OK && *silent_bytes > NC_CODING_SILENT_MAX_BYTES) {
        return nc_error_set(&at->failure, NC_ERR_BAD_CODING, 0, -1, "%zu bytes of the %s body decode to nothing",
                            *silent_bytes, at->kind->name);
    }
    return status;
}

/// Goes from the last stage down to the one that needs input, and back up.
///
/// A stage runs only when its output has been consumed, so that one buffer per stage is enough.
static nc_status pull(nc_coding *coding, nc_slice *piece) {
    size_t last = coding->stage_count - 1;
    size_t i = last;
    for (;;) {
        nc_slice *in = i == 0 ? &coding->input : &coding->stages[i - 1].ready;
        nc_status status = run(&coding->stages[i], in, &coding->silent_bytes);
        if (status != NC_OK) {
            coding->failure = coding->stages[i].failure;
            return status;
        }
        bool has_output = coding->stages[i].ready.length != 0;
        if (has_output && i == last) {
            *piece = take(&coding->stages[i].ready);
            coding->silent_bytes = 0;
            return NC_OK;
        }
        if (has_output) {
            i++;
        } else if (in->length == 0 && i == 0) {
            *piece = nc_slice_make(NULL, 0);
            return NC_OK;
        } else if (in->length == 0) {
            i--;
        }
    }
}

nc_status nc_coding_next(nc_coding *coding, nc_slice *piece, nc_error *err) {
    if (coding == NULL || piece == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the chain or its piece is NULL");
    }
    nc_slice next = {NULL, 0};
    if (coding->failure.status != NC_OK || (coding->stage_count != 0 && pull(coding, &next) != NC_OK)) {
        return repeat_failure(coding, err);
    }
    if (coding->stage_count == 0) {
        next = take(&coding->input);
    }
    coding->is_idle = next.length == 0;
    *piece = next;
    return nc_error_clear(err);
}

nc_status nc_coding_finish(const nc_coding *coding, nc_error *err) {
    if (coding == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the chain is NULL");
    }
    if (coding->failure.status != NC_OK) {
        return repeat_failure(coding, err);
    }
    if (!coding->is_idle) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "decoded bytes were not taken out yet");
    }
    for (size_t i = 0; coding->has_begun && i < coding->stage_count; i++) {
        const nc_decoder_kind *kind = coding->stages[i].kind;
        if (!kind->is_complete(coding->stages[i].state)) {
            return nc_error_set(err, NC_ERR_CUT_SHORT, 0, -1, "the %s body ends within its stream", kind->name);
        }
    }
    return nc_error_clear(err);
}
