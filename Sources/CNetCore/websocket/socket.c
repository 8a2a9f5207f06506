#include "websocket/internal.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "request/request_copy.h"
#include "state/engine_record.h"

#include <string.h>

enum { MAX_PROTOCOLS_BYTES = 8192 };

/* --- the request --- */

static nc_status refuse(nc_error *err, nc_status status, const char *text) {
    return nc_error_set(err, status, 0, -1, "%s", text);
}

static bool is_of_handshake(nc_slice name) {
    static const char prefix[] = "Sec-WebSocket-";
    bool has_prefix = name.length >= sizeof prefix - 1 &&
                      nc_slice_is_equal_ignoring_case(nc_slice_make(name.data, sizeof prefix - 1), nc_slice_of(prefix));
    return has_prefix || nc_slice_is_equal_ignoring_case(name, nc_slice_of("Connection")) ||
           nc_slice_is_equal_ignoring_case(name, nc_slice_of("Upgrade"));
}

static nc_status check_request(const nc_request *request, nc_error *err) {
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    bool has_body = request->has_body || request->body.length > 0 || request->body_file.length > 0 ||
                    request->body_source.pull != NULL || request->multipart != NULL;
    if (!is_get || has_body || request->save_path.length > 0 || request->expectation != NULL ||
        request->trailers.count > 0) {
        return refuse(err, NC_ERR_USAGE, "a WebSocket is opened by a GET without body, trailers, file or expectation");
    }
    if (request->http != NC_HTTP_AUTO && request->http != NC_HTTP_1_1) {
        return refuse(err, NC_ERR_UNSUPPORTED, "a WebSocket is opened over HTTP/1.1 only");
    }
    if ((request->credentials.schemes & (NC_AUTH_NTLM | NC_AUTH_NEGOTIATE)) != 0) {
        return refuse(err, NC_ERR_UNSUPPORTED, "a WebSocket cannot be opened with NTLM or Negotiate");
    }
    if (request->header_count > NC_MAX_SENT_HEADERS) {
        return refuse(err, NC_ERR_TOO_LARGE, "too many headers");
    }
    if (request->header_count > 0 && request->headers == NULL) {
        return refuse(err, NC_ERR_USAGE, "a count is not 0, but its array is NULL");
    }
    for (size_t i = 0; i < request->header_count; i++) {
        nc_slice name = request->headers[i].name;
        if (is_of_handshake(name)) {
            return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "%.*s is set by the library: remove the header",
                                (int)(name.length < 64 ? name.length : 64), (const char *)name.data);
        }
    }
    return NC_OK;
}

static nc_status join_protocols(nc_buf *out, const nc_socket_options *options, nc_error *err) {
    for (size_t i = 0; i < options->protocol_count; i++) {
        nc_slice protocol = options->protocols[i];
        bool is_token = protocol.length > 0;
        for (size_t at = 0; at < protocol.length && is_token; at++) {
            is_token = nc_ascii_is_token(protocol.data[at]);
        }
        for (size_t other = 0; other < i && is_token; other++) {
            is_token = !nc_slice_is_equal(options->protocols[other], protocol);
        }
        if (!is_token) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "subprotocol %zu is not a token, or is a repetition",
                                i + 1);
        }
        nc_buf_append(out, nc_slice_of(i > 0 ? ", " : ""));
        nc_buf_append(out, protocol);
    }
    nc_status status = nc_buf_status(out);
    return status == NC_OK ? NC_OK : nc_error_set(err, status, 0, -1, "the subprotocols are too long");
}

/// Appends the URL with http or https instead of ws or wss, and a NUL.
static void append_url(nc_buf *out, nc_slice url) {
    static const char *const schemes[] = {"ws:", "wss:"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);
        if (url.length > length &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, length), nc_slice_of(schemes[i]))) {
            nc_buf_append(out, nc_slice_of("http"));
            url = nc_slice_make(url.data + 2, url.length - 2);
            break;
        }
    }
    nc_buf_append(out, url);
}

/// Submits the handshake. The caller's fields come first.
static nc_status submit(nc_socket *socket, const nc_request *asked, nc_error *err) {
    enum { MAX_ADDED = 6 };
    nc_header *headers = nc_alloc_zeroed(asked->header_count + MAX_ADDED, sizeof *headers);
    nc_buf url = nc_buf_init(SIZE_MAX);
    append_url(&url, asked->url);
    if (headers == NULL || nc_buf_status(&url) != NC_OK) {
        nc_free(headers);
        nc_buf_deinit(&url);
        return refuse(err, NC_ERR_NO_MEMORY, "no memory for a WebSocket");
    }
    size_t count = asked->header_count;
    if (count > 0) {
        memcpy(headers, asked->headers, count * sizeof *headers);
    }
    headers[count++] = (nc_header){nc_slice_of("Connection"), nc_slice_of("Upgrade")};
    headers[count++] = (nc_header){nc_slice_of("Upgrade"), nc_slice_of("websocket")};
    headers[count++] = (nc_header){nc_slice_of("Sec-WebSocket-Version"), nc_slice_of("13")};
    headers[count++] = (nc_header){nc_slice_of("Sec-WebSocket-Key"), nc_slice_of(socket->key)};
    if (socket->protocols.length > 0) {
        headers[count++] = (nc_header){nc_slice_of("Sec-WebSocket-Protocol"), nc_buf_slice(&socket->protocols)};
    }
    if (socket->options.offers_compression) {
        headers[count++] = (nc_header){nc_slice_of("Sec-WebSocket-Extensions"), nc_slice_of(NC_WS_DEFLATE_OFFER)};
    }
    nc_request request = *asked;
    request.url = nc_buf_slice(&url);
    request.headers = headers;
    request.header_count = count;
    request.accepts_codings = false;
    request.may_pause = true;
    request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    request.body_source = (nc_body_source){.ctx = socket, .pull = nc_socket_pull, .seek = nc_socket_seek};
    request.body_length = NC_SOCKET_BODY_BYTES;
    const nc_sink sink = {
        .ctx = socket, .on_head = nc_socket_on_head, .on_body = nc_socket_on_body, .on_done = nc_socket_on_done};
    nc_status status = nc_engine_submit_socket(socket->engine, &request, &sink, &socket->id, err);
    nc_free(headers);
    nc_buf_deinit(&url);
    return status;
}

/* --- the socket --- */

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static uint64_t or_default_bytes(uint64_t value) {
    return value != 0 ? value : NC_SOCKET_DEFAULT_MAX_MESSAGE_BYTES;
}

static nc_socket_options resolve(const nc_socket_options *from) {
    return (nc_socket_options){
        .offers_compression = from->offers_compression,
        .delivers_pieces = from->delivers_pieces,
        .max_frame_bytes = or_default_bytes(from->max_frame_bytes),
        .max_message_bytes = or_default_bytes(from->max_message_bytes),
        .max_queued_bytes =
            from->max_queued_bytes != 0 ? from->max_queued_bytes : (size_t)NC_SOCKET_DEFAULT_MAX_QUEUED_BYTES,
        .ping_interval_ms = or_default(from->ping_interval_ms, NC_SOCKET_DEFAULT_PING_INTERVAL_MS),
        .peer_timeout_ms = or_default(from->peer_timeout_ms, NC_SOCKET_DEFAULT_PEER_TIMEOUT_MS),
        .close_timeout_ms = or_default(from->close_timeout_ms, NC_SOCKET_DEFAULT_CLOSE_TIMEOUT_MS),
    };
}

static nc_socket *make(nc_engine *engine, const nc_socket_options *options, const nc_socket_sink *sink) {
    nc_socket *socket = nc_alloc_zeroed(1, sizeof *socket);
    if (socket == NULL || pthread_mutex_init(&socket->mutex, NULL) != 0) {
        nc_free(socket);
        return NULL;
    }
    if (pthread_mutex_init(&socket->send_mutex, NULL) != 0) {
        pthread_mutex_destroy(&socket->mutex);
        nc_free(socket);
        return NULL;
    }
    atomic_init(&socket->references, 2); // the caller's and the transfer's
    socket->engine = engine;
    socket->sink = *sink;
    socket->options = resolve(options);
    socket->random = options->random != NULL ? *options->random : nc_random_system();
    socket->protocols = nc_buf_init(MAX_PROTOCOLS_BYTES);
    socket->queue = nc_buf_init(SIZE_MAX);
    socket->message = nc_buf_init(SIZE_MAX);
    socket->unread = nc_buf_init(SIZE_MAX);
    socket->refusal = nc_buf_init(SIZE_MAX);
    socket->close_reason = nc_buf_init(NC_WS_MAX_CONTROL_BYTES);
    socket->reader = (nc_ws_reader){.max_frame_bytes = socket->options.max_frame_bytes,
                                    .max_message_bytes = socket->options.max_message_bytes};
    socket->answer.arrive = nc_socket_arrive;
    return socket;
}

nc_status nc_socket_open(nc_socket **out, nc_engine *engine, const nc_request *request,
                         const nc_socket_options *options, const nc_socket_sink *sink, nc_error *err) {
    static const nc_socket_options defaults = {0};
    const nc_socket_options *chosen = options != NULL ? options : &defaults;
    if (sink->on_end == NULL || (chosen->protocol_count > 0 && chosen->protocols == NULL)) {
        return refuse(err, NC_ERR_USAGE, "the sink has no on_end callback, or the subprotocols are missing");
    }
    nc_status status = check_request(request, err);
    if (status != NC_OK) {
        return status;
    }
    nc_socket *socket = make(engine, chosen, sink);
    if (socket == NULL) {
        return refuse(err, NC_ERR_NO_MEMORY, "no memory for a WebSocket");
    }
    status = join_protocols(&socket->protocols, chosen, err);
    status = status == NC_OK ? nc_ws_key_make(socket->key, &socket->random, err) : status;
    if (status == NC_OK) {
        *out = socket; // on_open may need it before this function returns.
        status = submit(socket, request, err);
    }
    if (status != NC_OK) {
        nc_socket_destroy(socket);
    }
    return status;
}
