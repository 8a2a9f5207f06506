#include "http/challenge.h"

#include "base/ascii.h"

#include <string.h>

static nc_slice after(nc_slice text, size_t count) {
    return nc_slice_make(text.data + count, text.length - count);
}

static nc_slice skip_any(nc_slice text, bool takes_commas) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t' || (takes_commas && text.data[0] == ','))) {
        text = after(text, 1);
    }
    return text;
}

nc_slice nc_challenge_take_token(nc_slice *text) {
    size_t length = 0;
    while (length < text->length && nc_ascii_is_token(text->data[length])) {
        length++;
    }
    nc_slice token = nc_slice_make(text->data, length);
    *text = after(*text, length);
    return token;
}

/// Takes a parameter's value without its quotes. Backslash escapes in the value are kept; the caller decodes them.
static nc_slice take_value(nc_slice *text) {
    if (text->length == 0 || text->data[0] != '"') {
        return nc_challenge_take_token(text);
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
        nc_slice member = nc_challenge_take_token(&qop);
        if (is(member, "auth") || member.length == 0) {
            return false;
        }
        has_body = has_body || is(member, "auth-int");
        qop = skip_any(qop, true);
    }
    return has_body;
}

/// Takes "name = value" from the beginning of `text`. Returns false, and leaves `text` unchanged, if it is empty or
/// begins with another challenge.
static bool take_parameter(nc_slice *text, nc_slice *name, nc_slice *value) {
    nc_slice rest = skip_any(*text, true);
    *name = nc_challenge_take_token(&rest);
    rest = skip_any(rest, false);
    if (name->length == 0 || rest.length == 0 || rest.data[0] != '=') {
        return false;
    }
    rest = skip_any(after(rest, 1), false);
    *value = take_value(&rest);
    *text = rest;
    return true;
}

/// Skips a member without parameters, such as a token68 (RFC 9110, 11.2), up to the next comma.
static nc_slice skip_member(nc_slice text) {
    const uint8_t *comma = text.length > 0 ? memchr(text.data, ',', text.length) : NULL;
    return comma != NULL ? after(text, (size_t)(comma - text.data) + 1) : after(text, text.length);
}

bool nc_challenge_next(nc_slice *rest, nc_challenge *out) {
    nc_slice at = skip_any(*rest, true);
    nc_slice name;
    nc_slice value;
    out->scheme = nc_challenge_take_token(&at);
    while (out->scheme.length == 0 && at.length > 0) {
        at = skip_any(skip_member(at), true);
        out->scheme = nc_challenge_take_token(&at);
    }
    if (out->scheme.length == 0) {
        return false;
    }
    nc_slice end = at;
    while (take_parameter(&end, &name, &value)) {
    }
    out->parameters = nc_slice_make(at.data, (size_t)(end.data - at.data));
    *rest = end;
    return true;
}

bool nc_challenge_next_parameter(nc_slice *parameters, nc_slice *name, nc_slice *value) {
    return take_parameter(parameters, name, value);
}

void nc_challenge_unescape(nc_buf *out, nc_slice value) {
    for (size_t i = 0; i < value.length; i++) {
        i += value.data[i] == '\\' && i + 1 < value.length ? 1 : 0;
        nc_buf_append_byte(out, value.data[i]);
    }
}

bool nc_challenge_parameter(nc_buf *out, const nc_challenge *challenge, nc_slice name) {
    nc_slice rest = challenge->parameters;
    nc_slice found;
    nc_slice value;
    while (take_parameter(&rest, &found, &value)) {
        if (nc_slice_is_equal_ignoring_case(found, name)) {
            nc_challenge_unescape(out, value);
            return nc_buf_status(out) == NC_OK;
        }
    }
    return false;
}

bool nc_challenge_offers(nc_slice value, const char *scheme) {
    nc_challenge one;
    while (nc_challenge_next(&value, &one)) {
        if (is(one.scheme, scheme)) {
            return true;
        }
    }
    return false;
}

bool nc_challenge_covers_body(nc_slice value) {
    nc_challenge one;
    nc_slice name;
    nc_slice text;
    while (nc_challenge_next(&value, &one)) {
        while (is(one.scheme, "Digest") && nc_challenge_next_parameter(&one.parameters, &name, &text)) {
            if (is(name, "qop")) {
                return covers_body(text);
            }
        }
        if (is(one.scheme, "Digest")) {
            return false;
        }
    }
    return false;
}
