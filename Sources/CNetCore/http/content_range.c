#include "http/content_range.h"

#include "base/ascii.h"
#include "body/coding.h"

#include <string.h>

bool nc_decimal_read(uint64_t *out, nc_slice text) {
    uint64_t value = 0;
    if (text.length == 0 || text.length > 19) { // Nineteen digits fit in 64 bits, and no file is longer.
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = value;
    return value <= INT64_MAX;
}

bool nc_slice_cut(nc_slice *head, nc_slice *text, char mark) {
    const uint8_t *at = text->length > 0 ? memchr(text->data, mark, text->length) : NULL;
    if (at == NULL) {
        return false;
    }
    *head = nc_slice_make(text->data, (size_t)(at - text->data));
    *text = nc_slice_make(at + 1, text->length - head->length - 1);
    return true;
}

bool nc_content_range_parse(nc_content_range *out, nc_slice text) {
    nc_content_range range = {.total = NC_LENGTH_UNKNOWN};
    nc_slice unit;
    nc_slice place;
    nc_slice first;
    text = nc_ascii_trim(text);
    if (!nc_slice_cut(&unit, &text, ' ') || !nc_slice_is_equal_ignoring_case(unit, nc_slice_of("bytes"))) {
        return false;
    }
    text = nc_ascii_trim(text);
    if (!nc_slice_cut(&place, &text, '/')) {
        return false;
    }
    bool has_total = !nc_slice_is_equal(text, nc_slice_of("*"));
    if (has_total && !nc_decimal_read(&range.total, text)) {
        return false;
    }
    if (nc_slice_is_equal(place, nc_slice_of("*"))) {
        range.is_unsatisfied = true;
        *out = range;
        return has_total;
    }
    if (!nc_slice_cut(&first, &place, '-') || !nc_decimal_read(&range.first, first) ||
        !nc_decimal_read(&range.last, place) || range.first > range.last || (has_total && range.last >= range.total)) {
        return false;
    }
    *out = range;
    return true;
}

/// Returns true if the unit of a Content-Range is bytes. Other units are ignored (RFC 9110, 14.4).
static bool is_in_bytes(nc_slice range) {
    static const char unit[] = "bytes";
    enum { UNIT_BYTES = sizeof unit - 1 };
    bool is_long_enough = range.length > UNIT_BYTES;
    uint8_t next = is_long_enough ? range.data[UNIT_BYTES] : 0;
    return is_long_enough && (next == ' ' || next == '\t' || next == '=') &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(range.data, UNIT_BYTES), nc_slice_of(unit));
}

void nc_body_extent_take(nc_body_extent *out, nc_header field) {
    if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Range"))) {
        out->range_count += 1;
        // Two fields would be ambiguous.
        out->has_range = out->range_count == 1 && nc_content_range_parse(&out->range, field.value);
        out->claims_range = out->claims_range || is_in_bytes(field.value);
    } else if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Encoding"))) {
        // Every field counts, at any position.
        out->is_coded = out->is_coded || !nc_coding_is_none(field.value);
    } else if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Length"))) {
        out->has_length = out->has_length || nc_decimal_read(&out->length, field.value);
    }
}

/// RFC 9110, 14.4 defines Content-Range only for 206 and 416, but some servers send a part with 200.
bool nc_body_extent_is_part(uint16_t status, const nc_body_extent *extent) {
    const nc_content_range *range = &extent->range;
    bool names_whole = extent->has_range && !range->is_unsatisfied && range->first == 0 &&
                       range->total != NC_LENGTH_UNKNOWN && range->last == range->total - 1 &&
                       (!extent->has_length || extent->is_coded || extent->length == range->total);
    bool is_success = status >= 200 && status < 300;
    return status == 206 || (is_success && extent->claims_range && !names_whole);
}

bool nc_content_range_is_part(uint16_t status, const nc_header *headers, size_t header_count) {
    nc_body_extent extent = {0};
    for (size_t i = 0; i < header_count; i++) {
        nc_body_extent_take(&extent, headers[i]);
    }
    return nc_body_extent_is_part(status, &extent);
}
