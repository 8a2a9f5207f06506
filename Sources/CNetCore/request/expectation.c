#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "request/response.h"

#include <netcore/media_type.h>
#include <stdatomic.h>

enum {
    MAX_TYPES = 64,
    MAX_TYPE_BYTES = 255,
};

struct nc_expectation {
    atomic_uint references;
    nc_expectation_options options;
    nc_buf texts; // the texts of the types, concatenated
    uint8_t lengths[MAX_TYPES];
};

static bool is_token(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_token(text.data[i])) {
            return false;
        }
    }
    return text.length > 0;
}

/// Returns true for "a/b", "a/*", "*/*" or "*+suffix", and for an empty text, which means a response without a type.
static bool is_type(nc_slice type) {
    size_t slash = 0;
    if (type.length > MAX_TYPE_BYTES) {
        return false;
    }
    if (type.length == 0) {
        return true;
    }
    if (type.length > 2 && type.data[0] == '*' && type.data[1] == '+') {
        return is_token(nc_slice_make(type.data + 2, type.length - 2));
    }
    while (slash < type.length && type.data[slash] != '/') {
        slash++;
    }
    return slash < type.length && is_token(nc_slice_make(type.data, slash)) &&
           is_token(nc_slice_make(type.data + slash + 1, type.length - slash - 1));
}

static nc_status check_options(const nc_expectation_options *options, nc_error *err) {
    uint16_t min = options->min_status == 0 ? 200 : options->min_status;
    uint16_t max = options->max_status == 0 ? 299 : options->max_status;
    if (min < 100 || max > 999 || min > max) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the range of expected statuses is empty: %u to %u", min, max);
    }
    if (options->matching.max_mismatches > NC_SHAPE_MAX_MISMATCHES || options->json.max_depth > NC_JSON_MAX_DEPTH) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "max_mismatches or max_depth is out of range");
    }
    if (options->shape != NULL && options->schema != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "an expectation has both a shape and a schema");
    }
    if (options->type_count > MAX_TYPES || (options->type_count > 0 && options->types == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "more than %d content types, or a count is not 0 but its array is NULL", MAX_TYPES);
    }
    for (size_t i = 0; i < options->type_count; i++) {
        if (!is_type(options->types[i])) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "content type %zu is not a valid media type", i + 1);
        }
    }
    return NC_OK;
}

static void copy_types(nc_expectation *expectation, const nc_slice *types, size_t count) {
    for (size_t i = 0; i < count; i++) {
        nc_buf_append(&expectation->texts, types[i]);
        expectation->lengths[i] = (uint8_t)types[i].length;
    }
    expectation->options.types = NULL;
    expectation->options.type_count = count;
}

nc_status nc_expectation_new(nc_expectation **out, const nc_expectation_options *options, nc_error *err) {
    const nc_slice usual[] = {nc_slice_of("application/json"), nc_slice_of("text/json"), nc_slice_of("text/javascript"),
                              nc_slice_of("*+json")};
    nc_status status = check_options(options, err);
    if (status != NC_OK) {
        return status;
    }
    nc_expectation *expectation = nc_alloc_zeroed(1, sizeof *expectation);
    if (expectation == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an expectation");
    }
    atomic_init(&expectation->references, 1);
    expectation->options = *options;
    expectation->options.min_status = options->min_status == 0 ? 200 : options->min_status;
    expectation->options.max_status = options->max_status == 0 ? 299 : options->max_status;
    expectation->texts = nc_buf_init(MAX_TYPES * MAX_TYPE_BYTES);
    bool is_usual = options->type_count == 0;
    copy_types(expectation, is_usual ? usual : options->types,
               is_usual ? sizeof usual / sizeof usual[0] : options->type_count);
    if (options->shape != NULL) {
        (void)nc_shape_retain(options->shape);
    }
    if (options->schema != NULL) {
        (void)nc_schema_retain(options->schema);
    }
    if (expectation->texts.status != NC_OK) {
        nc_expectation_release(expectation);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an expectation");
    }
    *out = expectation;
    return nc_error_clear(err);
}

nc_expectation *nc_expectation_retain(nc_expectation *expectation) {
    atomic_fetch_add_explicit(&expectation->references, 1, memory_order_relaxed);
    return expectation;
}

void nc_expectation_release(nc_expectation *expectation) {
    if (expectation == NULL || atomic_fetch_sub_explicit(&expectation->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    nc_shape_release(expectation->options.shape);
    nc_schema_release(expectation->options.schema);
    nc_buf_deinit(&expectation->texts);
    nc_free(expectation);
}

const nc_expectation_options *nc_expectation_options_of(const nc_expectation *expectation) {
    return &expectation->options;
}

bool nc_expectation_applies_to_status(const nc_expectation *expectation, uint16_t status) {
    return status >= expectation->options.min_status && status <= expectation->options.max_status;
}

bool nc_expectation_applies_to_type(const nc_expectation *expectation, nc_slice content_type) {
    size_t at = 0;
    for (size_t i = 0; i < expectation->options.type_count; i++) {
        size_t length = expectation->lengths[i];
        if (nc_media_type_matches(content_type, nc_slice_make(expectation->texts.data + at, length))) {
            return true;
        }
        at += length;
    }
    return false;
}
