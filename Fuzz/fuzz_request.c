/// Covers: request/request_validate.c request/auth_validate.c request/request_copy.c
///
/// A request that nc_request_check() accepts contains nothing that splits it, and is copied completely and in order.
/// Input: flags, counts of headers and overrides (a byte each), then pieces: method, URL, names and values, hosts with
/// their ports, body.
#include "input.h"

#include "request/request_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_HEADERS = 12, MAX_OVERRIDES = 4 };

typedef struct request_input {
    nc_request request;
    nc_header headers[MAX_HEADERS];
    nc_connect_to overrides[MAX_OVERRIDES];
} request_input;

static void read_request(request_input *out, input *in) {
    uint8_t flags = input_byte(in);
    *out = (request_input){0};
    nc_request *request = &out->request;
    request->has_body = (flags & 1) != 0;
    request->accepts_codings = (flags & 2) != 0;
    request->http = (nc_http_choice)((flags >> 2) & 3);
    request->redirects = (nc_redirect_choice)((flags >> 4) & 3);
    request->header_count = input_byte(in) % (MAX_HEADERS + 1);
    request->connect_to_count = input_byte(in) % (MAX_OVERRIDES + 1);
    request->method = input_piece(in);
    request->url = input_piece(in);
    for (size_t i = 0; i < request->header_count; i++) {
        out->headers[i].name = input_piece(in);
        out->headers[i].value = input_piece(in);
    }
    for (size_t i = 0; i < request->connect_to_count; i++) {
        out->overrides[i].port = (uint16_t)input_number(in);
        out->overrides[i].to_port = (uint16_t)input_number(in);
        out->overrides[i].host = input_piece(in);
        out->overrides[i].to_host = input_piece(in);
    }
    request->headers = out->headers;
    request->connect_to = out->overrides;
    request->body = input_rest(in);
}

/* --- accepted requests --- */

static void check_accepted(const nc_request *request) {
    nc_slice url = request->url;
    size_t hosts = 0;
    CHECK(url.length > 8 || (url.length > 7 && strncasecmp((const char *)url.data, "http://", 7) == 0));
    CHECK(strncasecmp((const char *)url.data, "http", 4) == 0);
    CHECK(!holds_any(url, "\r\n \t") && !holds_any(request->method, "\r\n \t:"));
    CHECK(request->http <= NC_HTTP_3_IF_POSSIBLE && request->redirects <= NC_REDIRECTS_FOLLOW_DOWNGRADE);
    for (size_t i = 0; i < request->header_count; i++) {
        nc_header header = request->headers[i];
        CHECK(header.name.length > 0 && !holds_any(header.name, "\r\n \t:") && !holds_any(header.value, "\r\n"));
        CHECK(!nc_slice_is_equal_ignoring_case(header.name, nc_slice_of("Transfer-Encoding")));
        hosts += nc_slice_is_equal_ignoring_case(header.name, nc_slice_of("Host"));
        if (nc_slice_is_equal_ignoring_case(header.name, nc_slice_of("Content-Length"))) {
            unsigned long long length = 0;
            char text[32] = {0};
            CHECK(header.value.length < sizeof text);
            memcpy(text, header.value.data, header.value.length);
            CHECK(sscanf(text, "%llu", &length) == 1 && length == request->body.length);
        }
    }
    CHECK(hosts <= 1);
}

/* --- the header lines for libcurl --- */

/// Returns true for a field's line in libcurl's form: "Name: value", or "Name;" without a value.
static bool is_line_of(const char *line, const nc_header *header) {
    nc_slice text = nc_slice_of(line);
    size_t name = header->name.length;
    if (text.length < name + 1 || memcmp(text.data, header->name.data, name) != 0) {
        return false;
    }
    nc_slice tail = nc_slice_make(text.data + name, text.length - name);
    return header->value.length == 0
               ? nc_slice_is_equal(tail, nc_slice_of(";"))
               : tail.length > 2 && memcmp(tail.data, ": ", 2) == 0 &&
                     nc_slice_is_equal(nc_slice_make(tail.data + 2, tail.length - 2), header->value);
}

static bool names_owner(nc_slice name) {
    static const char *const owners[] = {"Authorization", "Cookie",   "Proxy-Authorization", "Host", "Origin",
                                         "Referer",       "X-Api-Key"};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(owners[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_body_field(nc_slice name) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of("Content-Length")) ||
           nc_slice_is_equal_ignoring_case(name, nc_slice_of("Content-Type"));
}

/// The caller's fields that a hop omits.
typedef struct {
    bool is_cross_origin;
    bool drops_body;
    bool drops_cookie;
} hop;

static bool drops(hop way, nc_slice name) {
    return (way.is_cross_origin && names_owner(name)) || (way.drops_body && is_body_field(name)) ||
           (way.drops_cookie && nc_slice_is_equal_ignoring_case(name, nc_slice_of("Cookie")));
}

/// Checks that the given fields appear in order, each once. A field is missing only if the hop omits it.
static const struct curl_slist *check_fields(const struct curl_slist *node, const nc_request *request, hop way) {
    bool drops_some = way.is_cross_origin || way.drops_body || way.drops_cookie;
    for (size_t i = 0; i < request->header_count; i++) {
        const nc_header *header = &request->headers[i];
        bool is_next = node != NULL && is_line_of(node->data, header);
        CHECK(!(is_next && drops(way, header->name)));
        CHECK(is_next || drops_some);
        node = is_next ? node->next : node;
    }
    return node;
}

/// Checks the lines after the caller's fields: Accept-Encoding, "Content-Length: 0", and lines ("Name:") that make
/// libcurl omit a field of its own. None of them may have the name of a caller's field.
static void check_added(const struct curl_slist *rest, const nc_request *request) {
    for (; rest != NULL; rest = rest->next) {
        const char *colon = strchr(rest->data, ':');
        CHECK(colon != NULL && colon > rest->data);
        nc_slice name = nc_slice_make(rest->data, (size_t)(colon - rest->data));
        bool is_order = colon[1] == '\0';
        // A method that usually has a body announces that it has none.
        bool is_length = nc_slice_is_equal(nc_slice_of(rest->data), nc_slice_of("Content-Length: 0")) &&
                         !request->has_body && request->body.length == 0 && !request->omits_zero_length;
        bool is_codings = nc_slice_is_equal(name, nc_slice_of("Accept-Encoding"));
        CHECK(is_order || is_length || (is_codings && request->accepts_codings));
        for (size_t i = 0; i < request->header_count; i++) {
            CHECK(!nc_slice_is_equal_ignoring_case(request->headers[i].name, name));
        }
    }
}

static void check_links(nc_request_copy *description, const nc_request *request) {
    for (unsigned i = 0; i < 8; i++) {
        hop way = {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0};
        struct curl_slist *first =
            nc_request_copy_link_headers(description, way.is_cross_origin, way.drops_body, way.drops_cookie);
        size_t count = 0;
        for (const struct curl_slist *node = first; node != NULL; node = node->next) {
            CHECK(strpbrk(node->data, "\r\n") == NULL);
            CHECK(++count <= request->header_count + 4);
        }
        const struct curl_slist *rest = check_fields(first, request, way);
        check_added(rest, request);
    }
}

static void check_overrides(const struct curl_slist *node, const nc_request *request) {
    for (size_t i = 0; i < request->connect_to_count; i++, node = node->next) {
        const nc_connect_to *one = &request->connect_to[i];
        bool keeps_target = one->to_host.length == 0 && one->to_port == 0;
        if (keeps_target && one->host.length == 0 && one->port == 0) {
            break; // this override matches every host and changes nothing, so later ones never apply
        }
        nc_slice to_host = keeps_target ? one->host : one->to_host;
        CHECK(node != NULL && strpbrk(node->data, "\r\n ") == NULL);
        size_t length = strlen(node->data);
        CHECK(length >= one->host.length + to_host.length + 3);
        CHECK(memmem(node->data, length, one->host.data, one->host.length) != NULL);
        CHECK(memmem(node->data, length, to_host.data, to_host.length) != NULL);
    }
    CHECK(node == NULL);
}

static void check_copy(const nc_request *request) {
    nc_request_copy description;
    size_t bytes = nc_request_copy_size(request);
    CHECK(bytes > 0);
    void *storage = malloc(bytes);
    CHECK(storage != NULL);
    nc_request_copy_fill(&description, request, storage);
    // Bytes beyond ASCII are percent-encoded.
    CHECK(description.url_length == strlen(description.url) && description.url_length >= request->url.length);
    CHECK(description.url_length > request->url.length ||
          nc_slice_is_equal(nc_slice_of(description.url), request->url));
    CHECK(nc_slice_is_equal(description.body, request->body));
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    CHECK(is_get ? description.method == NULL : nc_slice_is_equal(nc_slice_of(description.method), request->method));
    CHECK(description.has_body == (request->has_body || request->body.length > 0));
    check_links(&description, request);
    check_overrides(description.connect_to, request);
    free(storage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    request_input in_request;
    nc_error err;
    read_request(&in_request, &in);
    nc_status status = nc_request_check(&in_request.request, &err);
    check_error(&err, status, size);
    if (status == NC_OK) {
        check_accepted(&in_request.request);
        check_copy(&in_request.request);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
