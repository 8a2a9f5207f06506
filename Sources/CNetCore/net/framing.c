#include "net/framing.h"

#include "base/ascii.h"
#include "body/coding_list.h"

#include <string.h>

static bool is_named(nc_slice name, const char *other) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(other));
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/// Takes the next member of a comma-separated list, blanks around it left out; false at the end.
static bool next_member(nc_slice *rest, nc_slice *member) {
    if (rest->data == NULL) {
        return false;
    }
    const uint8_t *comma = rest->length > 0 ? memchr(rest->data, ',', rest->length) : NULL;
    size_t length = comma != NULL ? (size_t)(comma - rest->data) : rest->length;
    *member = nc_slice_make(rest->data, length);
    *rest = comma != NULL ? nc_slice_make(comma + 1, rest->length - length - 1) : nc_slice_make(NULL, 0);
    while (member->length > 0 && is_blank(member->data[0])) {
        *member = nc_slice_make(member->data + 1, member->length - 1);
    }
    while (member->length > 0 && is_blank(member->data[member->length - 1])) {
        member->length--;
    }
    return true;
}

static bool parse_length(nc_slice text, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i]) || value > (INT64_MAX - 9) / 10) {
            return false;
        }
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = value;
    return text.length > 0;
}

/// A list of one value repeated is what a proxy makes of two equal fields, and as good as one.
static void take_length(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        uint64_t length = 0;
        if (!parse_length(member, &length)) {
            framing->fault = "its Content-Length is no number";
        } else if (framing->has_length && framing->length != length) {
            framing->fault = "it names two lengths";
        }
        framing->length = length;
        framing->has_length = true;
    }
}

static void take_transfer_coding(nc_framing *framing, nc_slice value) {
    // "identity" is what RFC 2616 called no coding at all; a few servers still say it.
    bool is_identity = is_named(value, "identity");
    if (framing->has_transfer_coding || !(is_identity || is_named(value, "chunked"))) {
        framing->fault = "its Transfer-Encoding is not chunked alone";
    }
    framing->has_transfer_coding = true;
    framing->is_chunked = framing->is_chunked || !is_identity;
}

static void take_content_coding(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        framing->coding_count += nc_coding_is_none(member) ? 0 : 1;
    }
}

void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value) {
    // By length first: most fields are none of these.
    if (name.length == 14 && is_named(name, "Content-Length")) {
        take_length(framing, value);
    } else if (name.length == 17 && is_named(name, "Transfer-Encoding")) {
        take_transfer_coding(framing, value);
    } else if (name.length == 16 && is_named(name, "Content-Encoding")) {
        take_content_coding(framing, value);
    } else if (name.length == 10 && is_named(name, "Set-Cookie")) {
        framing->has_cookies = true;
    } else if (name.length == 8 && is_named(name, "Location")) {
        framing->has_location = true;
    } else {
        return;
    }
    if (framing->has_length && framing->is_chunked && framing->fault == NULL) {
        framing->fault = "it holds both Content-Length and Transfer-Encoding";
    }
}

void nc_framing_take_fold(nc_framing *framing, nc_slice name) {
    if (is_named(name, "Content-Length") || is_named(name, "Transfer-Encoding") || is_named(name, "Content-Encoding")) {
        framing->fault = "a field that tells where the body ends is folded";
    }
    framing->has_folded_challenge =
        framing->has_folded_challenge || is_named(name, "WWW-Authenticate") || is_named(name, "Proxy-Authenticate");
}
