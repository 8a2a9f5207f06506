#include "net/description.h"

#include "base/alloc.h"
#include "base/ascii.h"

#include <string.h>

/// Room for ":65535:" twice, brackets and a NUL around two hosts.
enum { CONNECT_TO_EXTRA_BYTES = 24, FIXED_NODES = 3, BODY_NODES = 2 };

/// Names that may follow a redirect to another origin: they describe what is wanted, not who wants it.
static const char *const safe_elsewhere[] = {
    "Accept",           "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding",
    "Content-Language", "Content-Length", "Content-Type",    "Expect",          "Pragma",        "Range",
    "User-Agent",
};

static bool is_safe_elsewhere(nc_slice name) {
    for (size_t i = 0; i < sizeof safe_elsewhere / sizeof *safe_elsewhere; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(safe_elsewhere[i]))) {
            return true;
        }
    }
    return false;
}

static bool describes_body(nc_slice name) {
    return (name.length > 8 && nc_slice_is_equal_ignoring_case(nc_slice_make(name.data, 8), nc_slice_of("Content-"))) ||
           nc_slice_is_equal_ignoring_case(name, nc_slice_of("Expect"));
}

size_t nc_description_size(const nc_request *request) {
    size_t total = FIXED_NODES * sizeof(struct curl_slist);
    bool fits = nc_size_add(&total, total, request->method.length + 1) &&
                nc_size_add(&total, total, request->url.length + 1) &&
                nc_size_add(&total, total, request->body.length) &&
                nc_size_add(&total, total, request->header_count * sizeof(nc_sent_header)) &&
                nc_size_add(&total, total, request->connect_to_count * sizeof(struct curl_slist));
    for (size_t i = 0; i < request->header_count && fits; i++) {
        const nc_header *header = &request->headers[i];
        fits = nc_size_add(&total, total, header->name.length + header->value.length + 3);
    }
    for (size_t i = 0; i < request->connect_to_count && fits; i++) {
        const nc_connect_to *one = &request->connect_to[i];
        fits = nc_size_add(&total, total, one->host.length + one->to_host.length + CONNECT_TO_EXTRA_BYTES);
    }
    return fits ? total : 0;
}

static char *put(char *at, nc_slice text) {
    if (text.length > 0) {
        memcpy(at, text.data, text.length);
    }
    return at + text.length;
}

static char *put_text(char **storage, nc_slice text) {
    char *begin = *storage;
    char *end = put(begin, text);
    *end = '\0';
    *storage = end + 1;
    return begin;
}

static void fill_header(nc_sent_header *out, const nc_header *header, char **storage) {
    char *at = *storage;
    out->node.data = at;
    at = put(at, header->name);
    // libcurl reads "Name:" as "leave this field out" and "Name;" as "send it empty".
    at = header->value.length == 0 ? put(at, nc_slice_of(";")) : put(put(at, nc_slice_of(": ")), header->value);
    *at = '\0';
    *storage = at + 1;
    out->is_safe_elsewhere = is_safe_elsewhere(header->name);
    out->describes_body = describes_body(header->name);
}

static char *put_port(char *at, uint16_t port) {
    char digits[5];
    size_t count = 0;
    for (unsigned rest = port; rest != 0; rest /= 10) {
        digits[count++] = (char)('0' + rest % 10);
    }
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

/// libcurl splits at colons, so a bare IPv6 address needs its brackets.
static char *put_host(char *at, nc_slice host) {
    bool is_bare_v6 = host.length > 0 && host.data[0] != '[' && memchr(host.data, ':', host.length) != NULL;
    at = is_bare_v6 ? put(at, nc_slice_of("[")) : at;
    at = put(at, host);
    return is_bare_v6 ? put(at, nc_slice_of("]")) : at;
}

static void fill_connect_to(struct curl_slist *out, const nc_connect_to *from, char **storage) {
    char *at = *storage;
    out->data = at;
    at = put_host(at, from->host);
    at = put_port(put(at, nc_slice_of(":")), from->port);
    at = put_host(put(at, nc_slice_of(":")), from->to_host);
    at = put_port(put(at, nc_slice_of(":")), from->to_port);
    *at = '\0';
    *storage = at + 1;
}

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static nc_limits resolve_limits(const nc_limits *from) {
    return (nc_limits){
        .connect_ms = or_default(from->connect_ms, NC_DEFAULT_CONNECT_MS),
        .first_byte_ms = or_default(from->first_byte_ms, NC_DEFAULT_FIRST_BYTE_MS),
        .idle_ms = or_default(from->idle_ms, NC_DEFAULT_IDLE_MS),
        .slot_ms = or_default(from->slot_ms, NC_DEFAULT_SLOT_MS),
        .total_ms = or_default(from->total_ms, NC_DEFAULT_TOTAL_MS),
        .max_redirects = or_default(from->max_redirects, NC_DEFAULT_MAX_REDIRECTS),
        .max_body_bytes = from->max_body_bytes != 0 ? from->max_body_bytes : NC_DEFAULT_MAX_BODY_BYTES,
        .max_head_bytes = or_default(from->max_head_bytes, NC_DEFAULT_MAX_HEAD_BYTES),
        .max_head_fields = or_default(from->max_head_fields, NC_DEFAULT_MAX_HEAD_FIELDS),
        .max_codings = or_default(from->max_codings, NC_DEFAULT_MAX_CODINGS),
    };
}

static bool has_header(const nc_request *request, const char *name) {
    for (size_t i = 0; i < request->header_count; i++) {
        if (nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of(name))) {
            return true;
        }
    }
    return false;
}

void nc_description_fill(nc_description *out, const nc_request *request, void *storage) {
    *out = (nc_description){
        .has_body = request->has_body || request->body.length > 0,
        .accepts_codings = request->accepts_codings,
        .is_head = nc_slice_is_equal(request->method, nc_slice_of("HEAD")),
        .http = request->http,
        .redirects = request->redirects,
        .limits = resolve_limits(&request->limits),
        .header_count = request->header_count,
        .url_length = request->url.length,
    };
    // Structs come first, so that they stay aligned; text follows.
    out->headers = storage;
    struct curl_slist *nodes = (struct curl_slist *)(void *)(out->headers + request->header_count);
    out->fixed = nodes;
    struct curl_slist *overrides = nodes + FIXED_NODES;
    char *text = (char *)(overrides + request->connect_to_count);
    for (size_t i = 0; i < request->header_count; i++) {
        fill_header(&out->headers[i], &request->headers[i], &text);
    }
    for (size_t i = 0; i < request->connect_to_count; i++) {
        fill_connect_to(&overrides[i], &request->connect_to[i], &text);
        overrides[i].next = i + 1 < request->connect_to_count ? &overrides[i + 1] : NULL;
    }
    out->connect_to = request->connect_to_count > 0 ? overrides : NULL;
    out->url = put_text(&text, request->url);
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    char *method = put_text(&text, request->method);
    out->method = is_get ? NULL : method;
    out->body = nc_slice_make(text, request->body.length);
    (void)put(text, request->body);
    // What libcurl would add unasked: a pause for "100 Continue" and a guessed content type (both with a body), and
    // "Accept: */*", which says nothing.
    out->fixed[0].data = has_header(request, "Expect") ? NULL : (char *)(uintptr_t) "Expect:";
    out->fixed[1].data = has_header(request, "Content-Type") ? NULL : (char *)(uintptr_t) "Content-Type:";
    out->fixed[2].data = has_header(request, "Accept") ? NULL : (char *)(uintptr_t) "Accept:";
}

struct curl_slist *nc_description_link_headers(nc_description *description, bool is_elsewhere, bool drops_body) {
    struct curl_slist *first = NULL;
    struct curl_slist **last = &first;
    for (size_t i = 0; i < description->header_count; i++) {
        nc_sent_header *header = &description->headers[i];
        if ((is_elsewhere && !header->is_safe_elsewhere) || (drops_body && header->describes_body)) {
            continue;
        }
        *last = &header->node;
        last = &header->node.next;
    }
    bool sends_body = description->has_body && !drops_body;
    for (size_t i = 0; i < FIXED_NODES; i++) {
        if (description->fixed[i].data != NULL && (sends_body || i >= BODY_NODES)) {
            *last = &description->fixed[i];
            last = &description->fixed[i].next;
        }
    }
    *last = NULL;
    return first;
}
