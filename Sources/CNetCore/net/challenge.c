#include "net/challenge.h"

#include "base/ascii.h"

static nc_slice after(nc_slice text, size_t count) {
    return nc_slice_make(text.data + count, text.length - count);
}

static nc_slice skip_any(nc_slice text, bool takes_commas) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t' || (takes_commas && text.data[0] == ','))) {
        text = after(text, 1);
    }
    return text;
}

static nc_slice take_token(nc_slice *text) {
    size_t length = 0;
    while (length < text->length && nc_ascii_is_token(text->data[length])) {
        length++;
    }
    nc_slice token = nc_slice_make(text->data, length);
    *text = after(*text, length);
    return token;
}

/// A parameter's value, quotes left out; escapes stay as they are, as no value that matters has any.
static nc_slice take_value(nc_slice *text) {
    if (text->length == 0 || text->data[0] != '"') {
        return take_token(text);
    }
    size_t end = 1;
    while (end < text->length && text->data[end] != '"') {
        end += text->data[end] == '\\' ? 2 : 1;
    }
    end = end < text->length ? end : text->length;
    nc_slice value = nc_slice_make(text->data + 1, end - 1);
    *text = after(*text, end < text->length ? end + 1 : end);
    return value;
}

static bool is(nc_slice text, const char *other) {
    return nc_slice_is_equal_ignoring_case(text, nc_slice_of(other));
}

static bool covers_body(nc_slice qop) {
    bool has_body = false;
    while (qop.length > 0) {
        qop = skip_any(qop, true);
        nc_slice member = take_token(&qop);
        if (is(member, "auth") || member.length == 0) {
            return false;
        }
        has_body = has_body || is(member, "auth-int");
        qop = skip_any(qop, true);
    }
    return has_body;
}

bool nc_challenge_covers_body(nc_slice value) {
    bool is_digest = false;
    nc_slice rest = skip_any(value, true);
    while (rest.length > 0) {
        nc_slice name = take_token(&rest);
        if (name.length == 0) {
            return false; // Nothing that could be followed.
        }
        nc_slice behind = skip_any(rest, false);
        if (behind.length > 0 && behind.data[0] == '=') {
            rest = skip_any(after(behind, 1), false);
            nc_slice qop = take_value(&rest);
            if (is_digest && is(name, "qop")) {
                return covers_body(qop);
            }
        } else if (is_digest) {
            return false; // The next challenge begins.
        } else {
            is_digest = is(name, "Digest");
            rest = behind;
        }
        rest = skip_any(rest, true);
    }
    return false;
}
