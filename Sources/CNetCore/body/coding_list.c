#include "body/coding_list.h"

#include "base/ascii.h"
#include "base/error.h"

/// The longest part of an unknown coding's name in a message, in bytes.
enum { SHOWN_NAME_BYTES = 32 };

static bool is_name(nc_slice name, const char *expected) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(expected));
}

/// "x-gzip" is gzip (RFC 9110, 8.4.1.3).
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

/// Returns the previous member. Returns false at the start. Empty members are returned too.
static bool read_member(nc_coding_list *list, nc_slice *member) {
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
        *list = nc_coding_list_init(list->values, list->count - 1);
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

nc_coding_list nc_coding_list_init(const nc_slice *values, size_t count) {
    return (nc_coding_list){values, count, count == 0 ? 0 : values[count - 1].length};
}

nc_status nc_coding_list_next(nc_coding_list *list, const nc_decoder_kind **out, nc_error *err) {
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
