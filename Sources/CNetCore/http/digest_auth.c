#include "http/digest_auth.h"

#include "base/ascii.h"
#include "base/error.h"
#include "http/challenge.h"

#include <string.h>

/// libcurl copies a value with quotes and a NUL into a buffer of 1,024 bytes. A longer value does not fit.
enum { MAX_PLAIN_VALUE = 1000, HEX_DIGITS = 2 * NC_DIGEST_MAX_BYTES };

static bool is(nc_slice text, const char *other) {
    return nc_slice_is_equal_ignoring_case(text, nc_slice_of(other));
}

/* --- reading --- */

typedef struct algorithm {
    const char *name;
    nc_digest_kind kind;
    bool is_session;
    bool is_right_in_libcurl; // computed by libcurl as RFC 7616 requires
} algorithm;

static const algorithm algorithms[] = {
    {"MD5", NC_DIGEST_MD5, false, true},
    {"MD5-sess", NC_DIGEST_MD5, true, true},
    {"SHA-256", NC_DIGEST_SHA256, false, true},
    {"SHA-256-sess", NC_DIGEST_SHA256, true, true},
    {"SHA-512-256", NC_DIGEST_SHA512_256, false, false}, // libcurl uses SHA-256 instead
    {"SHA-512-256-sess", NC_DIGEST_SHA512_256, true, false},
};

/// Returns the algorithm of a name, or NULL if it is unknown. The default is MD5.
static const algorithm *find_algorithm(nc_slice name) {
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (is(name, algorithms[i].name)) {
            return &algorithms[i];
        }
    }
    return name.length == 0 ? &algorithms[0] : NULL;
}

static void read_qop(nc_digest_challenge *out, nc_slice list) {
    nc_challenge member; // nc_challenge_next() returns each name of the list as a scheme without parameters.
    out->has_qop = true;
    while (nc_challenge_next(&list, &member)) {
        out->offers_auth = out->offers_auth || is(member.scheme, "auth");
        out->offers_auth_int = out->offers_auth_int || is(member.scheme, "auth-int");
    }
}

/// Appends a value to `texts` with its escapes decoded, and returns the copy. The caller has reserved enough memory, so
/// earlier copies in `texts` do not move.
static nc_slice unescape(nc_buf *texts, nc_slice value) {
    size_t begin = texts->length;
    nc_challenge_unescape(texts, value);
    return nc_buf_status(texts) == NC_OK ? nc_slice_make(texts->data + begin, texts->length - begin)
                                         : nc_slice_make(NULL, 0);
}

static bool read_challenge(nc_digest_challenge *out, nc_buf *texts, nc_slice parameters) {
    nc_slice name;
    nc_slice value;
    bool has_realm = false;
    *out = (nc_digest_challenge){0};
    if (nc_buf_reserve(texts, parameters.length) != NC_OK) {
        return false;
    }
    while (nc_challenge_next_parameter(&parameters, &name, &value)) {
        if (is(name, "realm")) {
            out->realm = unescape(texts, value);
            has_realm = true;
        } else if (is(name, "nonce")) {
            out->nonce = unescape(texts, value);
        } else if (is(name, "opaque")) {
            out->opaque = unescape(texts, value);
            out->has_opaque = true;
        } else if (is(name, "algorithm")) {
            out->algorithm = unescape(texts, value);
        } else if (is(name, "qop")) {
            read_qop(out, value);
        } else if (is(name, "stale")) {
            out->is_stale = is(value, "true");
        } else if (is(name, "userhash")) {
            out->hashes_user = is(value, "true");
        }
    }
    const algorithm *known = find_algorithm(out->algorithm);
    if (known == NULL || !has_realm || out->nonce.length == 0) {
        return false;
    }
    out->kind = known->kind;
    out->is_session = known->is_session;
    return !out->has_qop || out->offers_auth || out->offers_auth_int;
}

bool nc_digest_challenge_read(nc_digest_challenge *out, nc_buf *texts, nc_slice value) {
    nc_challenge one;
    while (nc_challenge_next(&value, &one)) {
        if (is(one.scheme, "Digest") && read_challenge(out, texts, one.parameters)) {
            return true;
        }
    }
    return false;
}

/// Takes a byte from the beginning of `text`. Returns false if `text` begins with another byte or is empty.
static bool take_byte(nc_slice *text, uint8_t byte) {
    bool is_there = text->length > 0 && text->data[0] == byte;
    *text = is_there ? nc_slice_make(text->data + 1, text->length - 1) : *text;
    return is_there;
}

/// Returns true if libcurl parses a qop list correctly. If a blank comes before a comma or before the end, libcurl
/// includes it in the name.
static bool is_plain_qop(nc_slice value) {
    for (size_t i = 0; i < value.length; i++) {
        bool is_last = i + 1 == value.length;
        if (value.data[i] == '\t' || (value.data[i] == ' ' && (is_last || !nc_ascii_is_token(value.data[i + 1])))) {
            return false;
        }
    }
    return value.length > 0;
}

static bool is_plain_value(nc_slice name, nc_slice value) {
    if (value.length > MAX_PLAIN_VALUE || (value.length > 0 && memchr(value.data, '\\', value.length) != NULL)) {
        return false;
    }
    const algorithm *known = is(name, "algorithm") ? find_algorithm(value) : &algorithms[0];
    return known != NULL && known->is_right_in_libcurl && (!is(name, "qop") || is_plain_qop(value));
}

/// Takes name=token or name="text", without blanks around "=". Returns false for anything else, and for a value that
/// libcurl may misread.
static bool take_plain_parameter(nc_slice *text) {
    nc_slice name = nc_challenge_take_token(text);
    nc_slice value;
    if (name.length == 0 || !take_byte(text, '=')) {
        return false;
    }
    if (take_byte(text, '"')) {
        const uint8_t *quote = text->length > 0 ? memchr(text->data, '"', text->length) : NULL;
        if (quote == NULL) {
            return false;
        }
        value = nc_slice_make(text->data, (size_t)(quote - text->data));
        *text = nc_slice_make(quote + 1, text->length - value.length - 1);
    } else {
        value = nc_challenge_take_token(text);
        if (value.length == 0) {
            return false;
        }
    }
    return is_plain_value(name, value);
}

bool nc_digest_is_plain(nc_slice value) {
    nc_slice scheme = nc_challenge_take_token(&value);
    if (!is(scheme, "Digest") || !take_byte(&value, ' ')) {
        return false;
    }
    while (take_byte(&value, ' ')) {
    }
    while (take_plain_parameter(&value)) {
        while (take_byte(&value, ' ')) {
        }
        if (value.length == 0) {
            return true;
        }
        if (!take_byte(&value, ',')) {
            return false;
        }
        while (take_byte(&value, ' ')) {
        }
    }
    return false;
}

/* --- answering --- */

/// A digest as lower-case hex digits.
typedef struct hex_digest {
    char digits[HEX_DIGITS];
    size_t length;
} hex_digest;

static nc_slice text_of(const hex_digest *of) {
    return nc_slice_make((const uint8_t *)of->digits, of->length);
}

/// Digests texts joined by colons.
static nc_status join(hex_digest *out, nc_digest *digest, const nc_slice *texts, size_t count, nc_error *err) {
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    nc_digest_reset(digest);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            nc_digest_update(digest, nc_slice_of(":"));
        }
        nc_digest_update(digest, texts[i]);
    }
    nc_status status = nc_digest_finish(bytes, digest, err);
    nc_buf hex = nc_buf_init(HEX_DIGITS);
    if (status == NC_OK) {
        nc_hex_encode(&hex, nc_slice_make(bytes, nc_digest_bytes(nc_digest_kind_of(digest))));
        status = nc_buf_status(&hex);
    }
    if (status == NC_OK) {
        memcpy(out->digits, hex.data, hex.length);
        out->length = hex.length;
    }
    nc_buf_deinit(&hex);
    return status;
}

static const char count_text[] = "00000001"; // Each nonce is used once.

static const char *qop_of(const nc_digest_challenge *challenge) {
    return !challenge->has_qop ? NULL : challenge->offers_auth ? "auth" : "auth-int";
}

/// Computes the response of RFC 7616, 3.4.1 to 3.4.3, to `out`, and the hashed user name of 3.4.4 to `user`.
/// `ha1` and `ha2` are its H(A1) and H(A2).
static nc_status compute_response(hex_digest *out, hex_digest *user, const nc_digest_challenge *challenge,
                                  const nc_digest_question *question, nc_error *err) {
    hex_digest ha1;
    hex_digest ha2;
    hex_digest body;
    nc_digest *digest = NULL;
    nc_status status = nc_digest_new(&digest, challenge->kind, err);
    if (status != NC_OK) {
        return status;
    }
    const char *qop = qop_of(challenge);
    const nc_slice name[] = {question->user, challenge->realm};
    const nc_slice credentials[] = {question->user, challenge->realm, question->password};
    const nc_slice nothing[] = {nc_slice_of("")};
    status = join(user, digest, name, 2, err);
    status = status == NC_OK ? join(&ha1, digest, credentials, 3, err) : status;
    if (status == NC_OK && challenge->is_session) {
        const nc_slice session[] = {text_of(&ha1), challenge->nonce, question->cnonce};
        status = join(&ha1, digest, session, 3, err);
    }
    status = status == NC_OK ? join(&body, digest, nothing, 1, err) : status;
    if (status == NC_OK) {
        const nc_slice request[] = {question->method, question->target, text_of(&body)};
        status = join(&ha2, digest, request, qop != NULL && !challenge->offers_auth ? 3 : 2, err);
    }
    if (status == NC_OK) {
        const nc_slice with_qop[] = {text_of(&ha1),
                                     challenge->nonce,
                                     nc_slice_of(count_text),
                                     question->cnonce,
                                     nc_slice_of(qop != NULL ? qop : ""),
                                     text_of(&ha2)};
        const nc_slice without[] = {text_of(&ha1), challenge->nonce, text_of(&ha2)};
        status = qop != NULL ? join(out, digest, with_qop, 6, err) : join(out, digest, without, 3, err);
    }
    nc_digest_free(digest);
    return status;
}

/// Appends `name="value"` with quotes and backslashes escaped.
static void put_quoted(nc_buf *out, const char *name, nc_slice value) {
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append(out, nc_slice_of("=\""));
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') {
            nc_buf_append_byte(out, '\\');
        }
        nc_buf_append_byte(out, value.data[i]);
    }
    nc_buf_append_byte(out, '"');
}

static void put_plain(nc_buf *out, const char *name, nc_slice value) {
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append(out, value);
}

nc_status nc_digest_response_write(nc_buf *out, const nc_digest_challenge *challenge,
                                   const nc_digest_question *question, nc_error *err) {
    hex_digest response;
    hex_digest user;
    const char *qop = qop_of(challenge);
    if (question->has_body && qop != NULL && !challenge->offers_auth) {
        return nc_error_set(
            err, NC_ERR_AUTHENTICATION, 0, -1,
            "the server requires a Digest response over the body (qop=auth-int), which is not supported here");
    }
    nc_status status = compute_response(&response, &user, challenge, question, err);
    if (status != NC_OK) {
        return status;
    }
    put_quoted(out, "Digest username", challenge->hashes_user ? text_of(&user) : question->user);
    put_quoted(out, ", realm", challenge->realm);
    put_quoted(out, ", nonce", challenge->nonce);
    put_quoted(out, ", uri", question->target);
    if (qop != NULL || challenge->is_session) {
        put_quoted(out, ", cnonce", question->cnonce);
    }
    if (qop != NULL) {
        put_plain(out, ", nc=", nc_slice_of(count_text));
        put_plain(out, ", qop=", nc_slice_of(qop));
    }
    put_quoted(out, ", response", text_of(&response));
    if (challenge->has_opaque) {
        put_quoted(out, ", opaque", challenge->opaque);
    }
    if (challenge->algorithm.length > 0) {
        put_plain(out, ", algorithm=", challenge->algorithm);
    }
    if (challenge->hashes_user) {
        put_plain(out, ", userhash=", nc_slice_of("true"));
    }
    return nc_buf_status(out) == NC_OK ? nc_error_clear(err)
                                       : nc_error_set(err, nc_buf_status(out), 0, -1, "no memory for a digest");
}
