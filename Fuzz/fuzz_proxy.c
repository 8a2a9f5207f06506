/// Covers: request/auth_validate.c request/request_copy.c
///
/// A proxy that nc_check_proxy() accepts contains nothing that could split a line to the proxy. It is copied
/// completely, into exactly the computed room. Input: choice, schemes of authentication, count of fields (a byte each),
/// then pieces: URL, exceptions, user, password, names and values.
#include "input.h"

#include "request/request_copy.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_HEADERS = 6 };

typedef struct proxy_input {
    nc_proxy proxy;
    nc_header headers[MAX_HEADERS];
} proxy_input;

static void read_proxy(proxy_input *out, input *in) {
    *out = (proxy_input){0};
    nc_proxy *proxy = &out->proxy;
    uint8_t choice = input_byte(in);
    proxy->choice = (nc_proxy_choice)(choice & 3);
    proxy->uses_tunnel = (choice & 4) != 0;
    proxy->credentials.schemes = input_byte(in) & 63;
    proxy->header_count = input_byte(in) % (MAX_HEADERS + 1);
    proxy->url = input_piece(in);
    proxy->except = input_piece(in);
    proxy->credentials.user = input_piece(in);
    proxy->credentials.password = input_piece(in);
    for (size_t i = 0; i < proxy->header_count; i++) {
        out->headers[i].name = input_piece(in);
        out->headers[i].value = input_piece(in);
    }
    proxy->headers = out->headers;
}

static bool has_scheme(nc_slice url) {
    static const char *const schemes[] = {"http:", "https:", "socks4:", "socks4a:", "socks5:", "socks5h:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (url.length > length + 2 && strncasecmp((const char *)url.data, schemes[i], length) == 0) {
            return url.data[length] == '/' && url.data[length + 1] == '/';
        }
    }
    return false;
}

static void check_accepted(const nc_proxy *proxy) {
    CHECK(proxy->choice <= NC_PROXY_URL);
    CHECK(proxy->choice != NC_PROXY_URL || has_scheme(proxy->url));
    CHECK(!holds_any(proxy->url, "\r\n \t\x7f") && !holds_any(proxy->except, ""));
    CHECK(!holds_any(proxy->credentials.user, "") && !holds_any(proxy->credentials.password, ""));
    CHECK((proxy->credentials.schemes & (NC_AUTH_BEARER | 32u)) == 0);
    for (size_t i = 0; i < proxy->header_count; i++) {
        CHECK(proxy->headers[i].name.length > 0 && !holds_any(proxy->headers[i].name, "\r\n \t:"));
        CHECK(!holds_any(proxy->headers[i].value, "\r\n"));
    }
}

/// A copied text equals the given one; NULL only if there is none.
static void check_text(const char *copy, nc_slice given) {
    CHECK(copy != NULL ? nc_slice_is_equal(nc_slice_of(copy), given) : given.length == 0);
}

static void check_copy(const nc_proxy *proxy) {
    size_t bytes = nc_proxy_size(proxy);
    size_t of_nodes = proxy->header_count * sizeof(struct curl_slist);
    CHECK(bytes >= of_nodes);
    struct curl_slist *nodes = malloc(of_nodes + 1);
    char *storage = malloc(bytes - of_nodes + 1);
    char *at = storage;
    nc_copied_proxy copy = {0};
    CHECK(nodes != NULL && storage != NULL);
    nc_copied_proxy_fill(&copy, proxy, nodes, &at);
    CHECK(at <= storage + (bytes - of_nodes));
    check_text(copy.url, proxy->url);
    check_text(copy.except, proxy->except);
    CHECK(copy.choice == proxy->choice && copy.uses_tunnel == proxy->uses_tunnel);
    if (copy.credentials.schemes != 0) {
        check_text(copy.credentials.user, proxy->credentials.user);
        check_text(copy.credentials.password, proxy->credentials.password);
    }
    const struct curl_slist *node = copy.headers;
    for (size_t i = 0; i < proxy->header_count; i++, node = node->next) {
        nc_slice name = proxy->headers[i].name;
        CHECK(node != NULL && strlen(node->data) > name.length && memcmp(node->data, name.data, name.length) == 0);
        CHECK(node->data[name.length] == (proxy->headers[i].value.length > 0 ? ':' : ';'));
    }
    CHECK(node == NULL);
    free(nodes);
    free(storage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    proxy_input input_proxy;
    nc_error err;
    read_proxy(&input_proxy, &in);
    err = (nc_error){0};
    nc_status status = nc_check_proxy(&input_proxy.proxy, &err);
    if (status == NC_OK) {
        check_accepted(&input_proxy.proxy);
        check_copy(&input_proxy.proxy);
    } else {
        check_error(&err, status, size);
        bool is_secret = input_proxy.proxy.header_count == 0; // a message may contain the name of a field
        CHECK(!is_secret || strstr(err.message, "hunter2") == NULL);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
