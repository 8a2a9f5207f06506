#define _GNU_SOURCE 1
#include "proxy.h"

#include "basic.h"
#include "request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BAD_REQUEST "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
#define BAD_GATEWAY "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
#define CHALLENGE                                                                                                      \
    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"nettesting\"\r\n"                 \
    "Content-Length: 0\r\n\r\n"
#define ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"
#define DEFAULT_PORT 80

/// The target of a request line.
struct target {
    const char *host;
    size_t host_length;
    /// Path and query, which the proxy sends to the server instead of the absolute target.
    const char *path;
    size_t path_length;
    uint16_t port;
    bool is_tunnel;
};

/// State shared by one client's requests.
struct exchange {
    nct_proxy_session *session;
    nct_request request;
    /// Host and port of the connected server, as the client wrote them.
    nct_bytes server;
    /// The body of the request is not forwarded.
    bool is_refused;
};

/* --- targets --- */

/// Parses `host:port`. Returns false for other text.
static bool parse_authority(struct target *target, const char *text, size_t length) {
    const char *colon = memrchr(text, ':', length);
    // The colons of an IPv6 address lie inside its brackets.
    if (colon != NULL && memchr(colon, ']', length - (size_t)(colon - text)) != NULL)
        colon = NULL;
    target->host = text;
    target->host_length = colon == NULL ? length : (size_t)(colon - text);
    target->port = DEFAULT_PORT;
    if (colon == NULL)
        return length != 0;
    char *end = NULL;
    long port = strtol(colon + 1, &end, 10);
    target->port = (uint16_t)port;
    return target->host_length != 0 && end == text + length && port > 0 && port <= UINT16_MAX;
}

/// Parses a request line that nct_request_take_head() accepted.
static bool parse_target(struct target *target, const char *line, size_t length) {
    const char *text = (const char *)memchr(line, ' ', length) + 1;
    size_t text_length = (size_t)((const char *)memrchr(line, ' ', length) - text);
    *target = (struct target){.is_tunnel = strncmp(line, "CONNECT ", 8) == 0};
    if (target->is_tunnel)
        return parse_authority(target, text, text_length);
    if (text_length < 7 || strncasecmp(text, "http://", 7) != 0)
        return false;
    const char *authority = text + 7;
    const char *end = text + text_length;
    const char *path = authority;
    while (path < end && *path != '/' && *path != '?')
        path++;
    target->path = path;
    target->path_length = (size_t)(end - path);
    return parse_authority(target, authority, (size_t)(path - authority));
}

static bool is_name(const struct target *target) {
    char text[INET6_ADDRSTRLEN] = {0};
    struct in6_addr parsed;
    if (target->host[0] == '[' || target->host_length >= sizeof text)
        return target->host[0] != '[';
    memcpy(text, target->host, target->host_length);
    return inet_pton(AF_INET, text, &parsed) != 1;
}

/* --- forwarding --- */

/// Appends the head that is sent to the server. It has the target in origin form, and no fields for the proxy.
static bool append_head(nct_bytes *out, const struct target *target, const char *head, size_t length) {
    const char *end = head + length;
    const char *slash = target->path_length == 0 || target->path[0] == '?' ? "/" : "";
    const char *target_text = (const char *)memchr(head, ' ', length) + 1;
    const char *line_end = memmem(head, length, "\r\n", 2);
    const char *version = memrchr(head, ' ', (size_t)(line_end - head));
    bool is_whole = nct_bytes_append(out, head, (size_t)(target_text - head)) && nct_bytes_append_text(out, slash) &&
                    nct_bytes_append(out, target->path, target->path_length);
    for (const char *line = version; is_whole && line < end; line = line_end) {
        line_end = (const char *)memmem(line, (size_t)(end - line), "\r\n", 2) + 2;
        if (strncasecmp(line, "Proxy-", 6) != 0)
            is_whole = nct_bytes_append(out, line, (size_t)(line_end - line));
    }
    return is_whole;
}

/// Connects to the target, unless the relay is already connected to it. Returns 0 or an errno.
static int reach(struct exchange *exchange, const struct target *target) {
    nct_relay *relay = &exchange->session->relay;
    size_t length = target->host_length + sizeof target->port;
    nct_bytes server = {0};
    if (!nct_bytes_append(&server, &target->port, sizeof target->port) ||
        !nct_bytes_append(&server, target->host, target->host_length)) {
        nct_bytes_deinit(&server);
        return ENOMEM;
    }
    bool is_same = relay->upstream.fd >= 0 && exchange->server.length == length &&
                   memcmp(nct_bytes_first(&exchange->server), nct_bytes_first(&server), length) == 0;
    nct_bytes_deinit(&exchange->server);
    exchange->server = server;
    return is_same ? 0 : nct_relay_connect(relay, target->host, target->host_length, target->port);
}

/// Sends a response from the proxy itself, and does not forward the request.
static bool refuse(struct exchange *exchange, const char *text) {
    exchange->is_refused = true;
    return nct_bytes_append_text(&exchange->session->relay.to_client, text);
}

/// Opens a tunnel, and relays bytes until the connection ends. Always returns false.
static bool make_tunnel(struct exchange *exchange, const struct target *target) {
    nct_proxy *proxy = exchange->session->proxy;
    nct_relay *relay = &exchange->session->relay;
    const nct_bytes *scripted = &proxy->connect_reply;
    if (scripted->length != 0) {
        (void)nct_bytes_append(&relay->to_client, nct_bytes_first(scripted), scripted->length);
    } else if (reach(exchange, target) != 0) {
        (void)refuse(exchange, BAD_GATEWAY);
    } else if (nct_bytes_append_text(&relay->to_client, ESTABLISHED)) {
        nct_record_add(&proxy->record, NCT_COUNT_TUNNELS, 1);
        nct_relay_run(relay);
    }
    return false;
}

/// Handles a complete head. Returns false if the connection must end.
static bool handle_head(struct exchange *exchange, const char *head, size_t length) {
    nct_proxy *proxy = exchange->session->proxy;
    nct_relay *relay = &exchange->session->relay;
    nct_request *request = &exchange->request;
    nct_record_request(&proxy->record, exchange->session->number, &request->first, length);
    exchange->is_refused = false;
    struct target target;
    const char *line_end = memmem(head, length, "\r\n", 2);
    if (!parse_target(&target, head, (size_t)(line_end - head))) {
        (void)refuse(exchange, BAD_REQUEST);
        return false;
    }
    if (is_name(&target))
        nct_record_add(&proxy->record, NCT_COUNT_NAMES, 1);
    const nct_bytes *shown = &request->fields[NCT_FIELD_PROXY_AUTHORIZATION];
    if (proxy->credentials.length != 0 &&
        !nct_basic_is_equal(&proxy->credentials, nct_bytes_first(shown), shown->length))
        return refuse(exchange, CHALLENGE);
    if (target.is_tunnel)
        return make_tunnel(exchange, &target);
    if (reach(exchange, &target) != 0)
        return refuse(exchange, BAD_GATEWAY);
    return append_head(&relay->to_upstream, &target, head, length);
}

/// Handles the received requests. Returns false if the connection must end.
static bool take_requests(struct exchange *exchange) {
    nct_relay *relay = &exchange->session->relay;
    nct_request *request = &exchange->request;
    nct_bytes *in = &relay->in;
    for (;;) {
        // `bytes` stays valid after bytes are dropped from `in`, until more bytes are read.
        const uint8_t *bytes = nct_bytes_first(in);
        size_t before = in->length;
        bool is_head = request->phase == NCT_EXPECT_HEAD;
        nct_progress progress =
            is_head ? nct_request_take_head(request, in) : nct_request_take_body(request, in, false);
        size_t length = before - in->length;
        if (progress == NCT_PROGRESS_BAD) {
            (void)refuse(exchange, BAD_REQUEST);
            return false;
        }
        if (is_head && progress == NCT_PROGRESS_WHOLE && !handle_head(exchange, (const char *)bytes, length))
            return false;
        if (!is_head && !exchange->is_refused && !nct_bytes_append(&relay->to_upstream, bytes, length))
            return false;
        if (progress == NCT_PROGRESS_MORE)
            return true;
        if (!is_head)
            nct_request_reset(request);
    }
}

void nct_proxy_serve_http(nct_proxy_session *session) {
    struct exchange exchange = {.session = session};
    while (take_requests(&exchange) && !session->relay.is_client_shut_down)
        if (!nct_relay_step(&session->relay))
            break;
    nct_request_deinit(&exchange.request);
    nct_bytes_deinit(&exchange.server);
}
