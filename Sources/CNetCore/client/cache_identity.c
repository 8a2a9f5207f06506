#include "client/cache_identity.h"

#include "base/ascii.h"
#include "http/field_list.h"
#include "state/engine_record.h"
#include "trust/policy.h"

#include <netcore/cache_functions.h>
#include <netcore/cache_key.h>
#include <netcore/cookies.h>
#include <netcore/secret_name.h>
#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

/// The limit of the hashed texts.
enum { MAX_TEXT_BYTES = 32 * 1024 * 1024, MAX_KEY_FIELDS = 32 };

/* --- texts to hash --- */

/// Each text is preceded by its length, so that different texts are never equal when they are joined.
static void append_length(nc_buf *out, nc_slice text) {
    char length[24];
    int count = snprintf(length, sizeof length, "%zu:", text.length);
    nc_buf_append(out, nc_slice_make(length, (size_t)count));
}

static void append_text(nc_buf *out, nc_slice text) {
    append_length(out, text);
    nc_buf_append(out, text);
}

static bool hash(uint8_t out[NC_KEYED_HASH_BYTES], const nc_http_cache *cache, const nc_buf *text) {
    return nc_buf_status(text) == NC_OK && nc_keyed_hash(out, cache->key, nc_buf_slice(text));
}

static void write_hex(char out[2 * NC_KEYED_HASH_BYTES + 1], const uint8_t bytes[NC_KEYED_HASH_BYTES]) {
    for (size_t i = 0; i < NC_KEYED_HASH_BYTES; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[2 * NC_KEYED_HASH_BYTES] = '\0';
}

static bool hash_as_hex(char out[2 * NC_KEYED_HASH_BYTES + 1], const nc_http_cache *cache, const nc_buf *text) {
    uint8_t bytes[NC_KEYED_HASH_BYTES] = {0};
    bool is_done = hash(bytes, cache, text);
    write_hex(out, bytes);
    return is_done;
}

static bool is_one_of(nc_slice name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/// Returns true for fields that select a representation and do not identify the user.
static bool is_negotiating(nc_slice name) {
    static const char *const names[] = {"Accept",           "Accept-Charset", "Accept-Encoding", "Accept-Language",
                                        "Content-Encoding", "Content-Type",   "Origin",          "User-Agent"};
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

static bool is_credential(nc_slice name) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of("Authorization")) ||
           (!nc_slice_is_equal_ignoring_case(name, nc_slice_of("Cookie")) && !is_negotiating(name) &&
            nc_secret_name_matches(name, NC_SECRET_FIELD));
}

/// Appends the credentials of a request without its cookies; nothing if it has none.
static void append_credentials(nc_buf *out, const nc_request *request) {
    const nc_credentials *own = &request->credentials;
    size_t at = 0;
    size_t length = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        if (is_credential(request->headers[i].name)) {
            append_length(out, request->headers[i].name);
            for (size_t k = 0; k < request->headers[i].name.length; k++) {
                nc_buf_append_byte(out, nc_ascii_lower(request->headers[i].name.data[k]));
            }
            append_text(out, request->headers[i].value);
        }
    }
    if (own->schemes != 0 || own->user.length > 0 || own->password.length > 0 || own->token.length > 0) {
        append_text(out, own->user);
        append_text(out, own->password);
        append_text(out, own->token);
    }
    nc_url_find_credentials(request->url, &at, &length);
    if (length > 0) {
        append_text(out, nc_slice_make(request->url.data + at, length));
    }
}

/* --- scope --- */

static nc_trust *trust_of(const nc_cache_question *question) {
    return question->request->trust != NULL ? question->request->trust : question->engine->trust;
}

static bool find_scope(nc_cache_identity *out, const nc_cache_question *question) {
    char hex[2 * NC_KEYED_HASH_BYTES + 1];
    nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
    bool is_known = true;
    if (question->has_scope) {
        nc_buf_append(&text, nc_slice_of(question->scope.length > 0 ? "scope" : ""));
        nc_buf_append(&text, question->scope);
    } else {
        is_known = !question->engine->state.uses_netrc && !nc_trust_has_identity(trust_of(question));
        append_credentials(&text, question->request);
        if (text.length > 0) {
            append_text(&text, nc_slice_of("credentials"));
        }
    }
    out->is_shared = text.length == 0 && nc_buf_status(&text) == NC_OK;
    if (out->is_shared) {
        (void)snprintf(out->scope, sizeof out->scope, "core");
    } else {
        is_known = is_known && hash_as_hex(hex, question->cache, &text);
        (void)snprintf(out->scope, sizeof out->scope, "core %s", is_known ? hex : "");
    }
    nc_buf_deinit(&text);
    return is_known;
}

/// Hashes the cookies that are sent: those of the Cookie fields and those that the jar may send to the host.
static bool find_owner(nc_cache_identity *out, const nc_cache_question *question) {
    const nc_request *request = question->request;
    nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
    nc_buf host = nc_buf_init(NC_URL_MAX_BYTES);
    nc_cookie_snapshot *jar = NULL;
    bool sends = request->cookie_use == NC_COOKIES_SEND_AND_STORE || request->cookie_use == NC_COOKIES_SEND_ONLY;
    nc_status status = NC_OK;
    out->owner_length = 0;
    if (question->has_scope) {
        return true;
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of("Cookie"))) {
            append_text(&text, request->headers[i].value);
        }
    }
    if (sends && nc_engine_snapshot_cookies(question->engine, &jar, NULL) == NC_OK) {
        status = nc_url_host(&host, request->url, NULL);
        status = status == NC_OK ? nc_cookie_snapshot_append(jar, nc_buf_slice(&host), &text, NULL) : status;
        nc_cookie_snapshot_release(jar);
    }
    bool is_known = status == NC_OK && nc_buf_status(&text) == NC_OK;
    if (is_known && text.length > 0) {
        out->owner_length = sizeof out->owner;
        is_known = hash(out->owner, question->cache, &text);
    }
    nc_buf_deinit(&host);
    nc_buf_deinit(&text);
    return is_known;
}

/// Without the cache's key, so that a shared response is found also after the store has lost the key.
static bool find_trust(nc_cache_identity *out, const nc_cache_question *question) {
    uint8_t mark[NC_TRUST_MARK_BYTES] = {0};
    bool is_known = nc_trust_mark(mark, trust_of(question));
    write_hex(out->trust, mark);
    return is_known;
}

bool nc_cache_identify(nc_cache_identity *out, const nc_cache_question *question) {
    *out = (nc_cache_identity){.owner_length = 0};
    return find_scope(out, question) && find_owner(out, question) && find_trust(out, question);
}

/* --- keys --- */

/// The fields of a key: settings that can change which server or which bytes respond, although the URL is the same.
typedef struct key_fields {
    nc_header fields[MAX_KEY_FIELDS];
    size_t count;
    bool has_too_many;
} key_fields;

static void add(key_fields *out, const char *name, nc_slice value) {
    if (out->count == MAX_KEY_FIELDS) {
        out->has_too_many = true;
        return;
    }
    out->fields[out->count++] = (nc_header){nc_slice_of(name), value};
}

static void collect_fields(key_fields *out, nc_buf *texts, const nc_key_question *question) {
    const nc_request *request = question->from->request;
    for (size_t i = 0; i < request->header_count; i++) {
        if (nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of("Host"))) {
            add(out, "Host", request->headers[i].value);
        }
    }
    if (request->unix_socket.length > 0) {
        add(out, "Unix-Socket", request->unix_socket);
    }
    if (request->connect_to_count > 0) {
        for (size_t i = 0; i < request->connect_to_count; i++) {
            const nc_connect_to *one = &request->connect_to[i];
            char ports[32];
            (void)snprintf(ports, sizeof ports, " %u %u ", one->port, one->to_port);
            append_text(texts, one->host);
            nc_buf_append(texts, nc_slice_of(ports));
            append_text(texts, one->to_host);
        }
        add(out, "Connect-To", nc_buf_slice(texts));
    }
    if (request->keeps_dot_segments) {
        add(out, "Path-As-Is", nc_slice_of("yes"));
    }
    if (request->accepts_codings == question->toggles_codings) {
        add(out, "Content-Coding", nc_slice_of("kept"));
    }
    add(out, "Trust", nc_slice_of(question->identity->trust));
}

/// Writes the scope of the key: that of the user, and for a response with Vary the hash of the selecting fields.
static bool write_scope(nc_buf *out, const nc_key_question *question) {
    nc_buf_append(out, nc_slice_of(question->is_anonymous ? "core" : question->identity->scope));
    if (question->vary != NULL) {
        char hex[2 * NC_KEYED_HASH_BYTES + 1];
        char generation[24];
        const nc_request *request = question->from->request;
        nc_cache_request asked = {.headers = request->headers, .header_count = request->header_count};
        nc_header vary = {nc_slice_of("Vary"), *question->vary};
        nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
        bool is_done =
            nc_cache_select(&text, &asked, &vary, 1) == NC_OK && hash_as_hex(hex, question->from->cache, &text);
        nc_buf_deinit(&text);
        if (!is_done) {
            return false;
        }
        (void)snprintf(generation, sizeof generation, " %llx ", (unsigned long long)question->generation);
        nc_buf_append(out, nc_slice_of(generation));
        nc_buf_append(out, nc_slice_of(hex));
    }
    return nc_buf_status(out) == NC_OK;
}

nc_status nc_cache_make_key(nc_buf *out, const nc_key_question *question) {
    key_fields fields = {.count = 0};
    nc_buf texts = nc_buf_init(MAX_TEXT_BYTES);
    nc_buf scope = nc_buf_init(1024);
    nc_buf url = nc_buf_init(NC_URL_MAX_BYTES);
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(question->url, &at, &length);
    nc_buf_append(&url, nc_slice_make(question->url.data, at));
    nc_buf_append(&url, nc_slice_make(question->url.data + at + length, question->url.length - at - length));
    collect_fields(&fields, &texts, question);
    nc_status status = NC_ERR_TOO_LARGE;
    if (write_scope(&scope, question) && !fields.has_too_many && nc_buf_status(&texts) == NC_OK &&
        nc_buf_status(&url) == NC_OK) {
        const nc_cache_key_parts parts = {.url = nc_buf_slice(&url),
                                          .headers = fields.fields,
                                          .header_count = fields.count,
                                          .scope = nc_buf_slice(&scope)};
        status = nc_cache_key_describe(out, &parts, NULL);
    }
    nc_buf_deinit(&texts);
    nc_buf_deinit(&scope);
    nc_buf_deinit(&url);
    return status;
}
