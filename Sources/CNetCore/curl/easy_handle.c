#include "curl/easy_handle.h"

#include "base/alloc.h"
#include "base/trace.h"
#include "curl/auth_response.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "http/url_text.h"
#include "request/engine_config.h"
#include "request/request_copy.h"
#include "state/alt_svc_cache.h"
#include "state/cookies.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "trust/policy.h"

#include <string.h>

/// Idle handles that a pool keeps. One takes about 6 KiB.
enum { MAX_FREE_HANDLES = 256 };

/// Sizes of libcurl's buffers. RECEIVE_BYTES, libcurl's default, is for bodies that are collected, so that the buffers
/// of many transfers stay in the processor's caches. LONG_RECEIVE_BYTES is for bodies that are delivered immediately.
/// It saves system calls: 1 GiB in pieces of 16 KiB takes twice the time. Coded bodies get a smaller buffer, because a
/// paused transfer may hold a full one, which expands. Streams need NC_QUIRK_STREAM_RECEIVE_BYTES.
enum { RECEIVE_BYTES = 16 * 1024, LONG_RECEIVE_BYTES = 512 * 1024, SEND_BYTES = 64 * 1024 };

/// Collects the first failure of a series of options.
typedef struct option_row {
    CURL *easy;
    CURLcode code;
} option_row;

#define SET(row, option, value)                                                                                        \
    do {                                                                                                               \
        if ((row)->code == CURLE_OK) {                                                                                 \
            (row)->code = curl_easy_setopt((row)->easy, option, value);                                                \
        }                                                                                                              \
    } while (0)

static nc_status status_of(CURLcode code) {
    if (code == CURLE_OK) {
        return NC_OK;
    }
    return code == CURLE_OUT_OF_MEMORY ? NC_ERR_NO_MEMORY : NC_ERR_UNSUPPORTED;
}

static void set_safety(option_row *row, nc_conn_pool *conn_pool) {
    const nc_trust_options *trust = &conn_pool->trust->options;
    bool verifies = !trust->accepts_anything;
    // The hook compares the name more strictly. libcurl's check covers sessions that are resumed without the hook.
    bool compares = verifies && !trust->skips_name_check && !nc_trust_may_be_overridden(conn_pool->trust);
    long version = trust->min_version == NC_TLS_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;
    version |= trust->max_version == NC_TLS_LIMIT_1_2   ? CURL_SSLVERSION_MAX_TLSv1_2
               : trust->max_version == NC_TLS_LIMIT_1_3 ? CURL_SSLVERSION_MAX_TLSv1_3
                                                        : 0;
    SET(row, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(row, CURLOPT_FOLLOWLOCATION, 0L);
    // Otherwise a cancel during name lookup waits for libcurl's resolver thread, and blocks every transfer.
    SET(row, CURLOPT_QUICK_EXIT, 1L);
    SET(row, CURLOPT_NOSIGNAL, 1L);
    SET(row, CURLOPT_SSLVERSION, version);
    SET(row, CURLOPT_SSL_VERIFYPEER, verifies ? 1L : 0L);
    SET(row, CURLOPT_SSL_VERIFYHOST, compares ? 2L : 0L);
    SET(row, CURLOPT_SSL_SESSIONID_CACHE, nc_trust_may_resume(conn_pool->trust) ? 1L : 0L);
    SET(row, CURLOPT_SSL_ENABLE_ALPN, trust->skips_alpn ? 0L : 1L);
    SET(row, CURLOPT_PROXY_SSLVERSION, version);
    SET(row, CURLOPT_PROXY_SSL_VERIFYPEER, verifies ? 1L : 0L);
    SET(row, CURLOPT_PROXY_SSL_VERIFYHOST, verifies ? 2L : 0L);
    if (row->code == CURLE_OK) {
        row->code = nc_quirk_set_no_ca_bundle(row->easy, conn_pool->engine->libcurl_version);
    }
    if (row->code == CURLE_OK && conn_pool->engine->capabilities.has_trust_policies) {
        row->code = nc_tls_hook_install(row->easy, conn_pool);
    }
}

static void set_callbacks(option_row *row, nc_easy_handle *handle) {
    const nc_transfer_events *events = handle->engine->events;
    SET(row, CURLOPT_PRIVATE, handle);
    SET(row, CURLOPT_ERRORBUFFER, handle->detail);
    SET(row, CURLOPT_HEADERFUNCTION, events->on_header);
    SET(row, CURLOPT_HEADERDATA, handle);
    SET(row, CURLOPT_WRITEFUNCTION, events->on_body);
    SET(row, CURLOPT_WRITEDATA, handle);
    SET(row, CURLOPT_HEADER, nc_quirk_needs_head_in_body_callback(handle->engine->libcurl_version) ? 1L : 0L);
    // libcurl delivers a chunked body as it was sent, and still finds its end. Its own decoder accepts a bare LF after
    // a chunk, and endless extensions.
    SET(row, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
    SET(row, CURLOPT_HTTP_CONTENT_DECODING, 0L); // else libcurl may decode the transfer coding gzip without chunks
    SET(row, CURLOPT_READFUNCTION, events->on_upload);
    SET(row, CURLOPT_READDATA, handle);
    SET(row, CURLOPT_SEEKFUNCTION, events->on_seek);
    SET(row, CURLOPT_SEEKDATA, handle);
    SET(row, CURLOPT_XFERINFOFUNCTION, events->on_progress);
    SET(row, CURLOPT_XFERINFODATA, handle);
    SET(row, CURLOPT_DEBUGFUNCTION, events->on_debug);
    SET(row, CURLOPT_DEBUGDATA, handle);
    SET(row, CURLOPT_PREREQFUNCTION, events->on_connected);
    SET(row, CURLOPT_PREREQDATA, handle);
    SET(row, CURLOPT_OPENSOCKETFUNCTION, events->open_socket);
    SET(row, CURLOPT_OPENSOCKETDATA, handle);
    SET(row, CURLOPT_CLOSESOCKETFUNCTION, events->close_socket);
    SET(row, CURLOPT_CLOSESOCKETDATA, handle->engine); // connections outlive handles
}

static nc_easy_handle *make(nc_conn_pool *conn_pool) {
    nc_easy_handle *handle = nc_alloc_zeroed(1, sizeof *handle);
    if (handle == NULL) {
        return NULL;
    }
    handle->engine = conn_pool->engine;
    handle->url_text = nc_buf_init(SIZE_MAX); // A request has the same limit.
    handle->is_plain_get = true;
    handle->easy = curl_easy_init();
    handle->url = curl_url();
    if (handle->easy == NULL || handle->url == NULL) {
        nc_easy_handle_free(handle);
        return NULL;
    }
    option_row row = {handle->easy, CURLE_OK};
    set_safety(&row, conn_pool);
    set_callbacks(&row, handle);
    SET(&row, CURLOPT_SHARE, conn_pool->share);
    SET(&row, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(&row, CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BYTES);
    handle->http_version = CURL_HTTP_VERSION_1_1;
    handle->receive_bytes = RECEIVE_BYTES;
    handle->tcp_delay_ms = CURL_HET_DEFAULT;
    if (row.code == CURLE_OK) {
        row.code = nc_auth_options_set_engine(handle->easy, &conn_pool->engine->state);
    }
    if (row.code != CURLE_OK) {
        nc_easy_handle_free(handle);
        return NULL;
    }
    return handle;
}

void nc_easy_handle_free(nc_easy_handle *handle) {
    curl_easy_cleanup(handle->easy);
    nc_tls_release(handle->proxy_tls);
    nc_tls_release(handle->origin_tls);
    curl_url_cleanup(handle->url);
    nc_buf_deinit(&handle->url_text);
    nc_free(handle);
}

void nc_easy_handle_release(nc_conn_pool *conn_pool, nc_easy_handle *handle) {
    handle->transfer = NULL;
    nc_tls_release(handle->proxy_tls); // of a connection without TLS
    nc_tls_release(handle->origin_tls);
    handle->proxy_tls = NULL;
    handle->origin_tls = NULL;
    if (conn_pool->free_handle_count >= MAX_FREE_HANDLES) {
        nc_easy_handle_free(handle);
        return;
    }
    handle->next = conn_pool->free_handles;
    conn_pool->free_handles = handle;
    conn_pool->free_handle_count++;
}

/// A handle does not keep a URL that is longer than this for its next hop.
enum { MAX_KEPT_URL_BYTES = 4096 };

/// Returns the canonical text of an IPv4 address that is written differently; NULL for other hosts. libcurl does not
/// recognize every spelling ("%31.1"), and would compare such a host with netrc entries as a name.
static const char *rewritten_address(const nc_url *url) {
    const nc_canonical_host *host = &url->origin.host;
    bool is_rewritten = url->status == NC_OK && host->kind == NC_HOST_IPV4 && !host->is_mapped &&
                        !nc_slice_is_equal(host->text, url->parts.host);
    return is_rewritten ? (const char *)host->text.data : NULL;
}

/// Splits the URL into parts, as libcurl would. Returns false if libcurl must parse the text itself:
///   - for an invalid URL, because libcurl's error is precise
///   - for an IPv6 address with a zone, which is lost in the parts
///   - for a host with a lone '%', which would be written differently
static bool split_url(CURLU *parts, const nc_url *url, bool keeps_dots) {
    unsigned int flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | (keeps_dots ? CURLU_PATH_AS_IS : 0u);
    const char *address = rewritten_address(url);
    nc_slice host = url->parts.host;
    bool has_percent = host.length == 0 || memchr(host.data, '%', host.length) != NULL;
    return url->text.length <= MAX_KEPT_URL_BYTES && (!has_percent || address != NULL) &&
           curl_url_set(parts, CURLUPART_URL, (const char *)url->text.data, flags) == CURLUE_OK &&
           (address == NULL || curl_url_set(parts, CURLUPART_HOST, address, 0) == CURLUE_OK);
}

/// libcurl parses and rewrites each request's URL, which takes a quarter of its time for a small request. If it gets
/// the parts instead of the text, it only copies them. The next request of a handle often has the same URL.
static void set_url(option_row *row, nc_easy_handle *handle, const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    bool keeps_dots = options != NULL && options->keeps_dot_segments;
    nc_slice url = nc_transfer_url(transfer);
    if (!keeps_dots && handle->url_text.length > 0 && nc_slice_is_equal(nc_buf_slice(&handle->url_text), url)) {
        return;
    }
    nc_buf_reset(&handle->url_text);
    bool is_exclusive = split_url(handle->url, &transfer->target.url, keeps_dots);
    SET(row, CURLOPT_CURLU, is_exclusive ? handle->url : NULL);
    SET(row, CURLOPT_URL, (const char *)url.data);
    if (is_exclusive && row->code == CURLE_OK) {
        nc_buf_append(&handle->url_text, url);
        if (nc_buf_status(&handle->url_text) != NC_OK) {
            nc_buf_reset(&handle->url_text);
        }
    }
}

/// Sets method and body. CURLOPT_HTTPGET resets CURLOPT_UPLOAD and CURLOPT_NOBODY.
static void set_method(option_row *row, nc_easy_handle *handle, const nc_transfer *transfer) {
    const nc_request_copy *request = &transfer->request;
    bool is_plain_get = transfer->is_get || (request->method == NULL && !request->has_body);
    if (is_plain_get && handle->is_plain_get) {
        return;
    }
    SET(row, CURLOPT_HTTPGET, 1L);
    if (is_plain_get) {
        SET(row, CURLOPT_CUSTOMREQUEST, NULL);
    } else if (request->has_body) {
        SET(row, CURLOPT_UPLOAD, 1L);
        uint64_t length = transfer->upload.length;
        bool is_chunked = length == NC_LENGTH_UNKNOWN || nc_transfer_sends_trailers(transfer);
        SET(row, CURLOPT_INFILESIZE_LARGE, is_chunked ? -1 : (curl_off_t)length);
        SET(row, CURLOPT_CUSTOMREQUEST, request->method != NULL ? request->method : "GET");
    } else if (request->is_head) {
        SET(row, CURLOPT_CUSTOMREQUEST, NULL);
        SET(row, CURLOPT_NOBODY, 1L);
    } else {
        SET(row, CURLOPT_CUSTOMREQUEST, request->method);
    }
    handle->is_plain_get = is_plain_get;
}

/// The connection of a WebSocket carries nothing else. Through an HTTP proxy it needs a tunnel (RFC 6455, 4.1).
static void set_socket(option_row *row, nc_easy_handle *handle, const nc_transfer *transfer) {
    if (transfer->request.is_socket) {
        SET(row, CURLOPT_FRESH_CONNECT, 1L);
        SET(row, CURLOPT_HTTPPROXYTUNNEL, 1L);
        SET(row, CURLOPT_UPLOAD_BUFFERSIZE, (long)RECEIVE_BYTES);
        handle->has_options = true;
    }
}

static void set_trailers(option_row *row, nc_easy_handle *handle, const nc_transfer *transfer) {
    if (nc_transfer_sends_trailers(transfer)) {
        SET(row, CURLOPT_TRAILERFUNCTION, handle->engine->events->on_trailers);
        SET(row, CURLOPT_TRAILERDATA, handle);
        handle->has_options = true;
    }
}

static void set_protocol(option_row *row, nc_easy_handle *handle, const nc_transfer *transfer) {
    bool is_secure = transfer->target.url.origin.is_secure;
    long version = nc_protocol_http_version(transfer, is_secure);
    bool is_alone = nc_protocol_is_alone_on_connection(transfer, version, is_secure);
    // Waiting for a connection of unknown protocol only pays if the protocol is soon known (by ALPN) or is fixed. Over
    // plain HTTP libcurl would hold back every other transfer until the end of the first response.
    bool shares = !transfer->is_exclusive && nc_protocol_may_be_multiplexed(transfer);
    // If only some servers of a host support HTTP/2, libcurl assumes that each of its connections is multiplexed, even
    // a busy one. Two requests would be mixed on it.
    bool is_mixed = shares && nc_protocol_has_mixed_servers(transfer, transfer->conn_pool);
    if (is_alone || is_mixed) {
        SET(row, CURLOPT_FRESH_CONNECT, 1L);
        SET(row, CURLOPT_FORBID_REUSE, 1L);
        handle->has_options = true;
    }
    if (handle->http_version != version) {
        SET(row, CURLOPT_HTTP_VERSION, version);
        handle->http_version = version;
    }
    long delay_ms = nc_protocol_tcp_delay_ms(transfer);
    if (handle->tcp_delay_ms != delay_ms) {
        SET(row, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, delay_ms);
        handle->tcp_delay_ms = delay_ms;
    }
    bool waits = shares && !is_mixed &&
                 (!nc_quirk_forgets_waiting_transfers(transfer->engine->libcurl_version) ||
                  (transfer->schedule.host != NULL && transfer->schedule.host->is_multiplexed));
    if (handle->waits_for_connection != waits) {
        SET(row, CURLOPT_PIPEWAIT, waits ? 1L : 0L);
        handle->waits_for_connection = waits;
    }
    handle->shares_connections = shares;
}

/// Returns the size of libcurl's receive buffer for the transfer's hop.
static long buffer_bytes(const nc_transfer *transfer) {
    bool is_streamed = transfer->has_sink && transfer->sink.on_body != NULL;
    bool is_saved = transfer->request.options != NULL && transfer->request.options->save_path != NULL;
    // Under a rate limit, a long pause would follow each full buffer.
    bool is_paced =
        transfer->request.limits.max_receive_bytes_per_s != 0 || transfer->engine->loop.receive_pace.bytes_per_s != 0;
    bool is_long = !is_paced && (is_saved || (is_streamed && !transfer->request.accepts_codings));
    long least = transfer->request.http == NC_HTTP_2_PRIOR_KNOWLEDGE ? NC_QUIRK_STREAM_RECEIVE_BYTES
                 : nc_protocol_may_be_multiplexed(transfer)          ? NC_QUIRK_RECORD_RECEIVE_BYTES
                                                                     : RECEIVE_BYTES;
    if (transfer->request.is_socket) {
        return RECEIVE_BYTES; // It stays allocated while the socket is idle.
    }
    return is_long ? LONG_RECEIVE_BYTES : is_streamed && !is_paced ? NC_QUIRK_STREAM_RECEIVE_BYTES : least;
}

/// Returns false if libcurl cannot change the buffer any more, such as that of a stream that ended before others of its
/// connection.
static bool set_buffer(nc_easy_handle *handle, long bytes) {
    if (handle->receive_bytes != bytes && curl_easy_setopt(handle->easy, CURLOPT_BUFFERSIZE, bytes) != CURLE_OK) {
        return false;
    }
    handle->receive_bytes = bytes;
    return true;
}

nc_easy_handle *nc_easy_handle_acquire(nc_conn_pool *conn_pool, const nc_transfer *transfer) {
    long bytes = buffer_bytes(transfer);
    nc_easy_handle *handle = NULL;
    while ((handle = conn_pool->free_handles) != NULL) {
        conn_pool->free_handles = handle->next;
        conn_pool->free_handle_count--;
        if (set_buffer(handle, bytes)) {
            nc_trace_pass(&conn_pool->engine->trace, NC_TRACE_HANDLE_REUSED, 0);
            return handle;
        }
        nc_easy_handle_free(handle);
    }
    handle = make(conn_pool);
    if (handle != NULL) {
        (void)set_buffer(handle, bytes);
        nc_trace_pass(&conn_pool->engine->trace, NC_TRACE_HANDLE_CREATED, 0);
    }
    return handle;
}

nc_status nc_easy_handle_set_cookies(nc_easy_handle *handle, nc_transfer *transfer) {
    nc_buf field = nc_buf_init(SIZE_MAX); // The jar and a request have their own limits.
    bool are_sent = nc_cookies_are_sent(transfer);
    nc_status status = are_sent ? nc_cookies_append_field(&field, transfer) : NC_OK;
    // Two Cookie fields are not allowed (RFC 6265, 5.4).
    if (status == NC_OK && are_sent && !transfer->is_cross_origin) {
        nc_request_copy_join_cookies(&transfer->request, &field);
    }
    if (status == NC_OK && field.length > 0) {
        nc_buf_append_byte(&field, 0);
        status = nc_buf_status(&field);
    }
    if (status == NC_OK && (field.length > 0 || handle->has_cookies)) {
        status = status_of(curl_easy_setopt(handle->easy, CURLOPT_COOKIE, (const char *)field.data));
        handle->has_cookies = field.length > 0;
    }
    nc_buf_deinit(&field);
    return status;
}

static void set_headers(option_row *row, nc_easy_handle *handle, nc_transfer *transfer) {
    bool joins = nc_cookies_are_sent(transfer);
    if (row->code == CURLE_OK && nc_easy_handle_set_cookies(handle, transfer) != NC_OK) {
        row->code = CURLE_OUT_OF_MEMORY;
    }
    struct curl_slist *fields =
        nc_request_copy_link_headers(&transfer->request, transfer->is_cross_origin, transfer->is_get, joins);
    fields = nc_auth_response_link(transfer, fields);
    bool has_route = transfer->alt_route != NULL;
    SET(row, CURLOPT_HTTPHEADER, has_route ? nc_alt_svc_route_link_headers(transfer->alt_route, fields) : fields);
}

static bool ignores_netrc(const nc_transfer *transfer) {
    return transfer->is_cross_origin || transfer->request.is_cross_origin || transfer->request.ignores_netrc;
}

nc_status nc_easy_handle_check_netrc(nc_transfer *transfer) {
    const nc_engine_config *state = &transfer->engine->state;
    bool reads = !ignores_netrc(transfer) && nc_auth_options_reads_netrc(state, transfer->request.options);
    return reads ? nc_engine_config_check_files(state, &transfer->engine->files, NC_QUIRK_MAX_NETRC_LINE_BYTES,
                                                &transfer->error)
                 : NC_OK;
}

static void set_credentials(option_row *row, nc_easy_handle *handle, nc_transfer *transfer) {
    const nc_request_copy *request = &transfer->request;
    if (ignores_netrc(transfer) && transfer->engine->state.uses_netrc) {
        // The file contains hosts, not origins, and "default" matches every host.
        SET(row, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
        handle->has_options = true;
    }
    if (request->options != NULL && row->code == CURLE_OK) {
        handle->has_options = true;
        row->code = nc_auth_options_set_request(handle->easy, &transfer->engine->state, request->options,
                                                transfer->is_cross_origin);
    }
    handle->has_options = handle->has_options || nc_auth_own_parties(transfer) != 0;
    row->code = row->code == CURLE_OK ? nc_auth_response_set(handle->easy, transfer) : row->code;
    // An empty body is sent without waiting for a challenge. Otherwise libcurl would send the same request twice.
    // The request of a WebSocket has no body before the 101.
    bool is_empty = request->is_socket || (request->has_body && transfer->upload.length == 0);
    uint8_t sends_body_immediately =
        is_empty ? nc_auth_awaited_parties(transfer) : transfer->target.sends_body_immediately;
    sends_body_immediately = (uint8_t)(sends_body_immediately & ~nc_auth_own_parties(transfer));
    if ((sends_body_immediately & NC_PARTY_HOST) != 0) {
        SET(row, CURLOPT_HTTPAUTH, nc_auth_options_send_body_first(request->options->credentials.schemes));
    }
    if ((sends_body_immediately & NC_PARTY_PROXY) != 0) {
        SET(row, CURLOPT_PROXYAUTH, nc_auth_options_send_body_first(nc_transfer_proxy(transfer)->credentials.schemes));
        handle->has_options = true;
    }
}

nc_status nc_easy_handle_configure(nc_easy_handle *handle, nc_transfer *transfer) {
    nc_request_copy *request = &transfer->request;
    option_row row = {handle->easy, CURLE_OK};
    handle->transfer = transfer;
    handle->fd = -1;
    handle->fd_count = 0;
    handle->detail[0] = '\0';
    if (handle->is_watched) {
        SET(&row, CURLOPT_VERBOSE, 0L);
        handle->is_watched = false;
    }
    if (handle->has_target) {
        SET(&row, CURLOPT_REQUEST_TARGET, NULL);
        handle->has_target = false;
    }
    set_url(&row, handle, transfer);
    set_headers(&row, handle, transfer);
    set_method(&row, handle, transfer);
    set_trailers(&row, handle, transfer);
    set_protocol(&row, handle, transfer);
    struct curl_slist *way =
        transfer->alt_route != NULL ? nc_alt_svc_route_connect_to(transfer->alt_route) : request->connect_to;
    if (handle->has_connect_to || way != NULL) {
        SET(&row, CURLOPT_CONNECT_TO, way);
        handle->has_connect_to = way != NULL;
    }
    if (handle->connect_ms != request->limits.connect_ms) {
        // The engine's timer ends a slow connect. libcurl divides its timeout among a host's addresses.
        long connect_ms = request->limits.connect_ms == NC_UNLIMITED ? INT32_MAX : (long)request->limits.connect_ms;
        SET(&row, CURLOPT_CONNECTTIMEOUT_MS, connect_ms < INT32_MAX ? connect_ms : INT32_MAX);
        handle->connect_ms = request->limits.connect_ms;
    }
    if (transfer->target.on_new_connection) {
        SET(&row, CURLOPT_FRESH_CONNECT, 1L);
        handle->has_options = true;
    }
    set_credentials(&row, handle, transfer);
    set_socket(&row, handle, transfer);
    return status_of(row.code);
}

void nc_easy_handle_check_length(nc_easy_handle *handle, bool was_polled) {
    if (handle->ignores_length == was_polled) {
        (void)curl_easy_setopt(handle->easy, CURLOPT_IGNORE_CONTENT_LENGTH, was_polled ? 0L : 1L);
        handle->ignores_length = !was_polled;
    }
}

void nc_easy_handle_forbid_reuse(nc_easy_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_FORBID_REUSE, 1L);
    handle->has_options = true;
}

void nc_easy_handle_watch_excess(nc_easy_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_VERBOSE, 1L);
    handle->is_watched = true;
}

void nc_easy_handle_watch_progress(nc_easy_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_NOPROGRESS, 0L);
    handle->has_options = true;
}
