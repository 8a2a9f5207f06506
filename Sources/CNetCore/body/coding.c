#include "body/coding.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <string.h>

/// One decoder of the chain, and its output that the next stage has not consumed yet.
typedef struct stage {
    const nc_decoder_kind *kind;
    void *state;
    /// The unconsumed output, within `bytes`.
    nc_slice ready;
    /// An error, which is reported after the output before it has been consumed.
    nc_error failure;
    uint8_t bytes[NC_CODING_PIECE_BYTES];
} stage;

struct nc_coding {
    /// The remaining input: borrowed from the caller or, if `is_kept`, within `kept`.
    nc_slice input;
    nc_buf kept;
    bool is_kept;
    /// True after the first byte of input.
    bool has_begun;
    /// True if no stage can return output without more input.
    bool is_idle;
    /// Bytes that the stages have consumed since the last returned piece.
    size_t bytes_without_output;
    /// The first error, which is permanent.
    nc_error failure;
    size_t stage_count;
    /// In the order of decoding: the first one reads the input.
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

/* --- the list of codings; it is read from its end, because the coding that was applied last is decoded first --- */

/// An unknown coding's name is truncated to this number of bytes in a message.
enum { SHOWN_NAME_BYTES = 32 };

/// A position in the values of the Content-Encoding fields, which are borrowed.
typedef struct coding_list {
    const nc_slice *values;
    /// Number of remaining values; the last of them is being parsed.
    size_t count;
    /// Number of remaining bytes of that value.
    size_t left;
} coding_list;

static bool is_name(nc_slice name, const char *expected) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(expected));
}

/// Returns the decoder of a coding; NULL if it is unknown. "x-gzip" is gzip (RFC 9110, 8.4.1.3).
static const nc_decoder_kind *find_kind(nc_slice name) {
    if (is_name(name, "gzip") || is_name(name, "x-gzip")) {
        return &nc_decoder_gzip;
    }
    if (is_name(name, "deflate")) {
        return &nc_decoder_deflate;
    }
    if (is_name(name, "br")) {
        return nc_decoder_brotli();
    }
    return is_name(name, "zstd") ? nc_decoder_zstd() : NULL;
}

static nc_slice trim(const uint8_t *data, size_t start, size_t end) {
    while (start < end && (data[start] == ' ' || data[start] == '\t')) {
        start++;
    }
    while (start < end && (data[end - 1] == ' ' || data[end - 1] == '\t')) {
        end--;
    }
    return nc_slice_make(start == end ? NULL : data + start, end - start);
}

static coding_list list_init(const nc_slice *values, size_t count) {
    return (coding_list){values, count, count == 0 ? 0 : values[count - 1].length};
}

/// Reads the member before the current position, which may be empty. Returns false at the start of the list.
static bool read_member(coding_list *list, nc_slice *member) {
    if (list->count == 0) {
        return false;
    }
    const uint8_t *data = list->values[list->count - 1].data;
    size_t start = list->left;
    while (start > 0 && data[start - 1] != ',') {
        start--;
    }
    *member = trim(data, start, list->left);
    if (start > 0) {
        list->left = start - 1;
    } else {
        *list = list_init(list->values, list->count - 1);
    }
    return true;
}

static nc_status fail_unknown(nc_slice name, nc_error *err) {
    char shown[SHOWN_NAME_BYTES + 1];
    size_t length = name.length < SHOWN_NAME_BYTES ? name.length : SHOWN_NAME_BYTES;
    for (size_t i = 0; i < length; i++) {
        shown[i] = nc_ascii_is_token(name.data[i]) ? (char)name.data[i] : '?';
    }
    shown[length] = '\0';
    return nc_error_set(err, NC_ERR_BAD_CODING, 0, -1, "the content coding '%s' is unknown", shown);
}

bool nc_coding_is_none(nc_slice name) {
    return name.length == 0 || is_name(name, "identity") || is_name(name, "none");
}

/// Sets `*out` to the next coding to decode, or NULL if there is none. Skips "identity" and the like. Returns NC_OK, or
/// NC_ERR_BAD_CODING for an unknown coding.
static nc_status list_next(coding_list *list, const nc_decoder_kind **out, nc_error *err) {
    nc_slice name;
    while (read_member(list, &name)) {
        if (!nc_coding_is_none(name)) {
            const nc_decoder_kind *kind = find_kind(name);
            if (kind == NULL) {
                return fail_unknown(name, err);
            }
            *out = kind;
            return NC_OK;
        }
    }
    *out = NULL;
    return NC_OK;
}

bool nc_coding_is_named(nc_slice value) {
    const nc_decoder_kind *kind = NULL;
    coding_list list = list_init(&value, 1);
    return list_next(&list, &kind, NULL) != NC_OK || kind != NULL;
}

/* --- creating and freeing --- */

/// Counts the codings. Fails if one is unknown or there are too many.
static nc_status count_codings(size_t *out, const nc_slice *values, size_t count, uint32_t max_codings, nc_error *err) {
    coding_list list = list_init(values, count);
    const nc_decoder_kind *kind = NULL;
    size_t codings = 0;
    for (;;) {
        nc_status status = list_next(&list, &kind, err);
        if (status != NC_OK) {
            return status;
        }
        if (kind == NULL) {
            *out = codings;
            return NC_OK;
        }
        if (codings++ == max_codings) {
            return nc_error_set(err, NC_ERR_BAD_CODING, 0, -1, "the response has more than %u content codings",
                                max_codings);
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

/// Allocates a chain with room for this number of stages; NULL if memory runs out.
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

static bool stage_init(stage *at, coding_list *list) {
    if (list_next(list, &at->kind, NULL) != NC_OK) {
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
    coding_list list = list_init(values, count);
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

/// Fills `err` with the permanent error and returns its status.
static nc_status repeat_failure(const nc_coding *coding, nc_error *err) {
    if (err != NULL) {
        *err = coding->failure;
    }
    return coding->failure.status;
}

static nc_status fail_to_keep(nc_coding *coding, nc_error *err) {
    nc_status status = nc_buf_status(&coding->kept);
    (void)nc_error_set(&coding->failure, status, 0, -1, "cannot store the encoded input: %s", nc_status_text(status));
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
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the previous input was neither consumed nor kept");
    } else {
        size_t taken = coding->kept.length - coding->input.length;
        // Move the remaining bytes to the front only if at least as many were consumed. Each byte is then moved about
        // once.
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

/// Removes up to NC_CODING_PIECE_BYTES from the front of `*from` and returns them.
static nc_slice take(nc_slice *from) {
    size_t length = from->length < NC_CODING_PIECE_BYTES ? from->length : NC_CODING_PIECE_BYTES;
    nc_slice taken = nc_slice_make(from->data, length);
    if (length != 0) {
        *from = nc_slice_make(from->data + length, from->length - length);
    }
    return taken;
}

/// Runs a stage once. Its previous output must have been consumed.
static nc_status run(stage *at, nc_slice *in, size_t *bytes_without_output) {
    if (at->failure.status != NC_OK) {
        return at->failure.status;
    }
    // The input is limited, because brotli may consume 16 MiB before it returns anything.
    nc_slice offered = {in->data, in->length < NC_CODING_PIECE_BYTES ? in->length : NC_CODING_PIECE_BYTES};
    nc_decoder_io io = {offered, at->bytes, NC_CODING_PIECE_BYTES};
    nc_status status = at->kind->decode(at->state, &io, &at->failure);
    size_t taken = offered.length - io.in.length;
    *in = nc_slice_make(taken == 0 ? in->data : in->data + taken, in->length - taken);
    at->ready = nc_slice_make(at->bytes, NC_CODING_PIECE_BYTES - io.room);
    *bytes_without_output += taken;
    if (at->ready.length != 0) {
        return NC_OK;
    }
    if (status == NC_OK && taken == 0 && in->length != 0) {
        return nc_error_set(&at->failure, NC_ERR_INTERNAL, 0, -1, "the %s decoder makes no progress", at->kind->name);
    }
    if (status == NC_OK && *bytes_without_output > NC_CODING_SILENT_MAX_BYTES) {
        return nc_error_set(&at->failure, NC_ERR_BAD_CODING, 0, -1,
                            "%zu bytes of the %s body were decoded without any output", *bytes_without_output,
                            at->kind->name);
    }
    return status;
}

/// Runs the stages until the last one has output. Starts at the last stage. If a stage needs input, the stage before it
/// runs next; if it has output, the stage after it.
///
/// A stage runs only after its output has been consumed, so one buffer for each stage is enough.
static nc_status pull(nc_coding *coding, nc_slice *piece) {
    size_t last = coding->stage_count - 1;
    size_t i = last;
    for (;;) {
        nc_slice *in = i == 0 ? &coding->input : &coding->stages[i - 1].ready;
        nc_status status = run(&coding->stages[i], in, &coding->bytes_without_output);
        if (status != NC_OK) {
            coding->failure = coding->stages[i].failure;
            return status;
        }
        bool has_output = coding->stages[i].ready.length != 0;
        if (has_output && i == last) {
            *piece = take(&coding->stages[i].ready);
            coding->bytes_without_output = 0;
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
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "decoded bytes remain: call nc_coding_next() until it returns an empty piece");
    }
    for (size_t i = 0; coding->has_begun && i < coding->stage_count; i++) {
        const nc_decoder_kind *kind = coding->stages[i].kind;
        if (!kind->is_complete(coding->stages[i].state)) {
            return nc_error_set(err, NC_ERR_CUT_SHORT, 0, -1,
                                "the %s body is incomplete: it ends within the compressed stream", kind->name);
        }
    }
    return nc_error_clear(err);
}
