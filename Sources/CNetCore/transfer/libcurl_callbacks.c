#include "transfer/internal.h"

#include "base/trace.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "event_loop/sockets.h"
#include "http/h2_tap.h"
#include "http/url_text.h"
#include "request/response.h"
#include "state/alt_svc_cache.h"
#include "state/engine_record.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"
#include "transfer/body_pipeline.h"
#include "transfer/flow_control.h"
#include "transfer/hop_result.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Records that libcurl delivers or takes bytes of a transfer.
static void record_step(nc_conn_pool *conn_pool) {
    conn_pool->step_count++;
}

static void record_stream_read(nc_easy_handle *handle, size_t bytes) {
    nc_conn_pool *conn_pool = handle->transfer->conn_pool;
    if (!handle->transfer->hop.may_be_multiplexed ||
        !nc_quirk_leaves_stream_bytes_unread(handle->engine->libcurl_version)) {
        return;
    }
    handle->delivered_bytes =
        (handle->delivered_in_call == conn_pool->call_count ? handle->delivered_bytes : 0) + bytes;
    handle->delivered_in_call = conn_pool->call_count;
    if (bytes == 0 || conn_pool->is_nudging || handle->delivered_bytes >= (uint64_t)handle->receive_bytes) {
        handle->may_have_buffered_data = true;
        conn_pool->has_buffered_candidates = true;
    }
}

/// Receives one line. If trailers arrived while the reader was paused, libcurl has buffered them, and delivers all of
/// their lines together.
size_t nc_callbacks_on_header(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    (void)one;
    if (transfer->flow.discards_rest) {
        return length;
    }
    record_step(transfer->conn_pool);
    if (!transfer->hop.was_connected) {
        return nc_tunnel_take_line(transfer, nc_slice_make(bytes, length)) == NC_OK ? length : 0;
    }
    transfer->hop.has_received = true;
    record_stream_read(data, 0);
    for (size_t at = 0; at < length;) {
        const char *end = transfer->hop.has_head ? memchr(bytes + at, '\n', length - at) : NULL;
        size_t count = end != NULL ? (size_t)(end - bytes) + 1 - at : length - at;
        if (nc_response_head_take_line(transfer, nc_slice_make(bytes + at, count)) != NC_OK) {
            return 0;
        }
        at += count;
    }
    return length;
}

/// Rejects a head that begins with a folded line, which is malformed. Only the body callback gets the line before
/// libcurl processes it: see nc_quirk_needs_head_in_body_callback().
static nc_status check_head_line(nc_transfer *transfer, nc_slice line) {
    bool is_fold = line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    if (!is_fold) {
        return NC_OK;
    }
    if (!transfer->hop.was_connected && !transfer->hop.has_tunnel_field) {
        return nc_transfer_record_error(transfer, NC_ERR_PROXY, CURLE_WEIRD_SERVER_REPLY,
                                        "the proxy's response head begins with a folded line");
    }
    if (transfer->hop.was_connected && nc_response_header_count(transfer->response) == 0) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "the response head begins with a folded line");
    }
    return NC_OK;
}

size_t nc_callbacks_on_body(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    nc_slice piece = nc_slice_make(bytes, length);
    (void)one;
    if (transfer->flow.discards_rest) {
        return length;
    }
    record_step(transfer->conn_pool);
    if (!transfer->hop.was_connected ||
        (transfer->hop.is_head_held && !nc_response_head_is_followed_by_body(transfer))) {
        return check_head_line(transfer, piece) == NC_OK ? length : 0;
    }
    if (!transfer->hop.has_head) {
        return check_head_line(transfer, piece) == NC_OK ? length : 0;
    }
    record_stream_read(data, length);
    if (transfer->hop.is_head_held && nc_response_head_accept_challenge(transfer) != NC_OK) {
        return 0;
    }
    return nc_body_pipeline_receive(transfer, piece);
}

/// Closes the connection after the hop if bytes follow the end of the response. libcurl would use them as the next
/// response (RFC 9112, 6.3).
int nc_callbacks_on_debug(CURL *easy, curl_infotype type, char *bytes, size_t length, void *data) {
    (void)easy;
    if (type == CURLINFO_TEXT && nc_quirk_text_is_excess(nc_slice_make(bytes, length))) {
        nc_easy_handle_forbid_reuse(data);
    }
    return 0;
}

size_t nc_callbacks_on_upload(char *bytes, size_t one, size_t capacity, void *data) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    nc_upload *upload = &transfer->upload;
    record_step(transfer->conn_pool);
    size_t room = nc_flow_control_send_room(transfer, capacity * one);
    if (room == 0) {
        return CURL_READFUNC_PAUSE;
    }
    size_t count = nc_upload_read(transfer, (uint8_t *)bytes, room);
    if (count == CURL_READFUNC_PAUSE) {
        nc_flow_control_pause_sending(transfer);
        if (transfer->form != NULL && transfer->files != NULL) {
            nc_files_open_part(transfer->files); // Does nothing if the form waits for a source, not for a file.
        }
    }
    if (count == CURL_READFUNC_PAUSE || count == CURL_READFUNC_ABORT) {
        return count;
    }
    uint64_t sent = atomic_fetch_add_explicit(&upload->sent, count, memory_order_relaxed) + count;
    nc_flow_control_sent(transfer, count);
    nc_deadline_progressed(transfer);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_UPLOAD_READ, transfer->id);
    // After an interim head, such as 100 Continue, or a challenge with credentials, the response is still to come.
    bool is_answered = transfer->hop.is_in_head || (transfer->hop.has_head && !transfer->hop.is_head_held);
    bool is_whole = count == 0 || (sent == upload->length && !nc_transfer_sends_trailers(transfer));
    if (is_answered && is_whole) {
        // The last piece of the body may close the stream. libcurl may notice that only when it reads.
        record_stream_read(data, 0);
    }
    nc_deadline_enter_phase(transfer, is_answered ? NC_PHASE_BODY : is_whole ? NC_PHASE_REPLY : NC_PHASE_SEND);
    nc_progress_record(transfer, false);
    return count;
}

int nc_callbacks_on_seek(void *data, curl_off_t offset, int origin) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    bool has_moved = origin == SEEK_SET && offset >= 0 && nc_upload_seek(transfer, (uint64_t)offset);
    return has_moved ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/// Limit of a proxy's response that refuses a CONNECT.
enum { MAX_REFUSAL_BYTES = 1 << 20 };

/// Records an error if the body of a challenge is too large. libcurl drops such a body, of any length, without a
/// callback.
static bool is_challenge_too_large(nc_transfer *transfer, curl_off_t got) {
    uint64_t max_bytes = nc_transfer_max_body_bytes(transfer);
    if (!transfer->hop.is_head_held || got <= 0 || (uint64_t)got <= max_bytes) {
        return false;
    }
    (void)nc_transfer_record_error(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                   "the body of an authentication challenge is larger than the limit of %llu bytes",
                                   (unsigned long long)max_bytes);
    return true;
}

/// libcurl reads the response to a CONNECT byte by byte while bytes are available, and calls the progress callback
/// before each byte. An endless body would block the event loop.
static bool is_refusal_too_large(nc_easy_handle *handle) {
    nc_transfer *transfer = handle->transfer;
    if (nc_conn_streams_count(transfer->conn_pool, &handle->refusal, 1) <= MAX_REFUSAL_BYTES) {
        return false;
    }
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    nc_slice authority = nc_url_authority(nc_slice_of(proxy->url != NULL ? proxy->url : ""));
    (void)nc_transfer_record_error(transfer, NC_ERR_PROXY, CURLE_RECV_ERROR,
                                   "the response of the proxy %.*s to CONNECT exceeds 1 MiB", (int)authority.length,
                                   (const char *)authority.data);
    return true;
}

int nc_callbacks_on_progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent) {
    nc_easy_handle *handle = data;
    (void)to_get;
    (void)to_send;
    (void)sent;
    // An idle handle has no transfer.
    return handle->transfer != NULL && (is_challenge_too_large(handle->transfer, got) || is_refusal_too_large(handle));
}

/// Returns true if the connection may use HTTP/2 or HTTP/3. `easy` is NULL without TLS.
static bool may_be_multiplexed(const nc_transfer *transfer, CURL *easy) {
    nc_http_choice choice = transfer->request.http;
    return choice == NC_HTTP_2_PRIOR_KNOWLEDGE || transfer->hop.is_quic ||
           (easy != NULL && nc_tls_may_speak(easy, "h2"));
}

/// Returns true if bytes arrived on the connection before the request was sent. They are not the request's response
/// (RFC 9112, 9.2), but a smuggled response, or the 408 of a server that timed out.
static bool has_leftover(const nc_easy_handle *handle, int local_port) {
    const nc_transfer *transfer = handle->transfer;
    const nc_sockets *sockets = &handle->engine->loop.sockets;
    if (!nc_quirk_uses_leftover_bytes(transfer->hop.may_be_multiplexed)) {
        return false;
    }
    if (nc_tls_has_unread(handle->easy) || nc_sockets_has_unread(sockets, transfer->hop.socket_key)) {
        return true;
    }
    // After a challenge, this hop still has the connection, which is therefore not among the idle ones.
    bool is_own_connection = transfer->hop.is_head_held &&
                             (nc_transfer_unix_socket(transfer) != NULL || nc_sockets_has_port(handle->fd, local_port));
    return is_own_connection && nc_sockets_is_unread(sockets, handle->fd);
}

/// Records which connection the hop uses. At the hop's end, libcurl does not report a connection that was closed, or
/// that other streams still use.
static void record_connection(const nc_easy_handle *handle, bool is_new, int local_port) {
    nc_transfer *transfer = handle->transfer;
    nc_sockets *sockets = &handle->engine->loop.sockets;
    if (!is_new) {
        nc_response_hop(transfer->response)->connection_id =
            nc_sockets_idle_connection(sockets, transfer->hop.socket_key);
    } else if (transfer->hop.may_be_multiplexed && nc_sockets_has_port(handle->fd, local_port)) {
        // Other hops may use the connection before this hop ends.
        nc_sockets_idle(sockets, handle->fd, transfer->hop.socket_key);
    }
}

/// Returns true if libcurl resends a request because an idle connection ended without a byte of a response. libcurl
/// would do that over up to five idle connections, also for a request that is not idempotent.
static bool is_resend(const nc_transfer *transfer) {
    // Over HTTP/2, libcurl also resends a request that the server has not processed (RFC 9113, 8.7). That is allowed,
    // and only the frames show it.
    return transfer->hop.was_connected && transfer->hop.attempts > 0 && !transfer->hop.has_received &&
           !nc_hop_result_is_unprocessed(transfer);
}

/// Returns false, and makes the hop fail, if libcurl must not send the request. Either an error was recorded before, or
/// libcurl would resend a request that the server may have processed (RFC 9110, 9.2.2).
static bool may_send(nc_transfer *transfer) {
    long number = 0;
    if (nc_quirk_resends_after_error(transfer->error.status)) {
        return false;
    }
    if (transfer->hop.has_head && !transfer->hop.is_head_held) {
        (void)nc_transfer_record_error(transfer, NC_ERR_HTTP2, CURLE_HTTP2_STREAM,
                                       "the server aborted its response and requires HTTP/1.1");
        return false;
    }
    if (nc_hop_result_is_enhance_your_calm(transfer)) {
        return false;
    }
    if (!is_resend(transfer) || nc_hop_result_can_resend(transfer)) {
        return true;
    }
    if (transfer->hop.may_be_multiplexed && nc_tls_tap(transfer->hop.tls_connection) == NULL) {
        bool is_quic = transfer->hop.is_quic;
        (void)nc_transfer_record_error(
            transfer, is_quic ? NC_ERR_HTTP3 : NC_ERR_HTTP2, is_quic ? CURLE_HTTP3 : CURLE_HTTP2,
            "the stream ended before a response began, and the server may have processed the request");
        return false;
    }
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_OS_ERRNO, &number);
    bool is_reset = number == ECONNRESET || number == EPIPE;
    (void)nc_transfer_record_error(transfer, is_reset ? NC_ERR_RESET : NC_ERR_EMPTY_REPLY,
                                   is_reset ? CURLE_RECV_ERROR : CURLE_GOT_NOTHING,
                                   "a reused connection closed before a response began");
    return false;
}

/// Makes the hop begin again. Returns the result with which libcurl closes the current connection.
static int request_retry(nc_transfer *transfer) {
    transfer->hop.outcome = NC_HOP_RETRIES;
    nc_response_repeat_hop(transfer->response);
    return CURL_PREREQFUNC_ABORT;
}

/// Makes the hop begin again with another handle and connection. Records this error if the hop has begun again too
/// often, or if its body cannot be sent again.
static int retry_on_new_connection(nc_transfer *transfer, const char *text) {
    if (!nc_hop_result_can_use_new_connection(transfer)) {
        (void)nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY, "%s", text);
        return CURL_PREREQFUNC_ABORT;
    }
    transfer->target.repeats++;
    return request_retry(transfer);
}

/// Records if the connection is multiplexed. If an alternative or an override leads to other servers, records it for
/// the pool; otherwise for the hop's host.
static void record_protocol(nc_transfer *transfer) {
    bool is_shared = transfer->hop.may_be_multiplexed;
    if (transfer->target.needs_http1) {
        return; // The connection has not offered HTTP/2.
    }
    if (transfer->conn_pool->endpoint_key != 0) {
        transfer->conn_pool->has_shared = transfer->conn_pool->has_shared || is_shared;
        transfer->conn_pool->has_single = transfer->conn_pool->has_single || !is_shared;
    } else if (transfer->schedule.host != NULL) {
        transfer->schedule.host->has_shared = transfer->schedule.host->has_shared || is_shared;
        transfer->schedule.host->has_single = transfer->schedule.host->has_single || !is_shared;
    }
}

/// Makes libcurl send the path exactly as the URL has it. Returns false if memory is exhausted.
static bool set_target(nc_easy_handle *handle, bool is_secure) {
    const nc_transfer *transfer = handle->transfer;
    const nc_copied_options *options = transfer->request.options;
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    nc_slice url = nc_transfer_url(transfer);
    if (!nc_quirk_rewrites_escapes(handle->engine->libcurl_version, url)) {
        return true;
    }
    bool is_socks = proxy->choice == NC_PROXY_URL && (proxy->url[0] == 's' || proxy->url[0] == 'S');
    bool is_for_proxy = !is_secure && proxy->choice != NC_PROXY_NONE && !is_socks && !proxy->uses_tunnel &&
                        !transfer->request.is_socket;
    handle->has_target = true;
    return nc_quirk_set_target(handle->easy, url, options != NULL && options->keeps_dot_segments, is_for_proxy) ==
           CURLE_OK;
}

/// The only version that libcurl offers (RFC 9000, 15).
enum { QUIC_VERSION = 1 };

int nc_callbacks_on_connected(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    (void)local_ip;
    if (!may_send(transfer)) {
        return CURL_PREREQFUNC_ABORT;
    }
    // If a failed TLS write was reported as "would block", libcurl does not know that bytes were lost, and does not
    // rewind.
    if ((transfer->upload.sent != 0 || transfer->upload.has_trailers) && !nc_upload_seek(transfer, 0)) {
        return CURL_PREREQFUNC_ABORT;
    }
    bool uses_new_connection = is_resend(transfer) && nc_hop_result_can_use_new_connection(transfer);
    transfer->hop.was_connected = true;
    transfer->target.lost_ns = 0;
    transfer->hop.has_received = false;
    transfer->handle->drain_calls = 0;
    transfer->hop.attempts++;
    if (uses_new_connection) {
        transfer->target.on_new_connection = true;
        transfer->target.repeats++;
        return request_retry(transfer);
    }
    if (transfer->hop.has_sent_trailers && nc_quirk_sends_trailers_once(transfer->engine->libcurl_version)) {
        return retry_on_new_connection(transfer, "the server requests the body with its trailers too often");
    }
    transfer->hop.socket_key = nc_sockets_key(nc_transfer_unix_socket(transfer), local_port);
    CURL *easy = ((nc_easy_handle *)data)->easy;
    const char *scheme = NULL;
    // The scheme decides, because the TLS that libcurl reports may be that of an HTTPS proxy.
    bool is_secure = curl_easy_getinfo(easy, CURLINFO_SCHEME, &scheme) == CURLE_OK && scheme != NULL &&
                     nc_slice_is_equal_ignoring_case(nc_slice_of(scheme), nc_slice_of("https"));
    if (is_secure) {
        nc_tls_describe(easy, hop);
        nc_h2_stream_leave(&transfer->hop.stream);
        nc_tls_release(transfer->hop.tls_connection); // of a connection that ended before its first byte
        if (nc_tls_watch(easy, transfer->conn_pool, &transfer->hop.tls_connection) != NC_OK) {
            (void)nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a connection");
            return CURL_PREREQFUNC_ABORT;
        }
    }
    transfer->hop.is_quic = is_secure && nc_protocol_uses_quic(transfer);
    hop->quic_version = transfer->hop.is_quic ? QUIC_VERSION : 0;
    transfer->hop.may_be_multiplexed = may_be_multiplexed(transfer, is_secure ? easy : NULL);
    if (is_secure) {
        record_protocol(transfer);
    }
    long opened = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &opened);
    record_connection(data, opened != 0, local_port);
    bool is_used = opened == transfer->hop.opened; // not a new connection: this hop or another one has used it
    transfer->hop.opened = opened;
    if (is_used && has_leftover(data, local_port)) {
        return transfer->hop.is_head_held
                   ? retry_on_new_connection(transfer,
                                             "the server sent unexpected bytes after its authentication challenge")
                   : request_retry(transfer);
    }
    nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    if (tap != NULL && is_used && (nc_h2_tap_has_goaway(tap) || nc_tls_is_over(transfer->hop.tls_connection))) {
        transfer->target.on_new_connection =
            true; // libcurl may choose the connection although GOAWAY came with its last response.
        return request_retry(transfer);
    }
    if (tap != NULL) {
        nc_h2_tap_open_stream(tap, &transfer->hop.stream); // libcurl submits the request right after this call.
    }
    if (!set_target(data, is_secure)) {
        (void)nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a request target");
        return CURL_PREREQFUNC_ABORT;
    }
    nc_metrics_record_address(transfer, remote_ip, remote_port);
    bool has_body =
        transfer->request.has_body && transfer->upload.length > 0 && !transfer->is_get && !transfer->request.is_socket;
    nc_deadline_enter_phase(transfer, has_body ? NC_PHASE_SEND : NC_PHASE_REPLY);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_CONNECTED, transfer->id);
    return CURL_PREREQFUNC_OK;
}

/// Opens a socket that does not block and that child processes do not inherit.
static int open_nonblocking(const struct curl_sockaddr *address) {
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
    return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
#else
    int fd = socket(address->family, address->socktype, address->protocol);
    if (fd >= 0 && (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)) {
        (void)close(fd);
        return -1;
    }
    return fd;
#endif
}

/// Sets the DSCP (RFC 2474, 3: the upper six bits). A failure is ignored.
static void set_dscp(int fd, int family, uint8_t dscp) {
    int octet = dscp << 2;
    if (family == AF_INET) {
        (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &octet, sizeof octet);
    } else if (family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &octet, sizeof octet);
        // An IPv4 address in an IPv6 socket uses the IPv4 option.
        (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &octet, sizeof octet);
    }
}

curl_socket_t nc_callbacks_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address) {
    nc_easy_handle *handle = data;
    (void)purpose;
    if (!may_send(handle->transfer)) {
        return CURL_SOCKET_BAD;
    }
    if (handle->transfer->hop.was_connected) {
        handle->transfer->hop.was_connected = false; // The hop's previous connection has ended.
        nc_deadline_enter_phase(handle->transfer, NC_PHASE_CONNECT);
    }
    if (handle->transfer->hop.has_tunnel_status) {
        nc_response_begin_head(handle->transfer->response, 0,
                               NC_HTTP_VERSION_UNKNOWN); // The new connection may use another proxy, or none.
    }
    bool is_refused = nc_quirk_is_unwanted_family(handle->engine->state.family, address->family);
    int fd = is_refused ? -1 : open_nonblocking(address);
    if (fd < 0) {
        handle->transfer->hop.socket_error = is_refused ? EAFNOSUPPORT : errno;
        return CURL_SOCKET_BAD;
    }
    if (handle->transfer->request.dscp != 0) {
        set_dscp(fd, address->family, handle->transfer->request.dscp);
    }
    if (nc_sockets_opened(&handle->engine->loop.sockets, fd, ++handle->engine->loop.connection_count) != NC_OK) {
        handle->transfer->hop.socket_error = ENOMEM;
        (void)close(fd);
        return CURL_SOCKET_BAD;
    }
    nc_metrics_forget_tcp(handle->transfer);
    nc_response_hop(handle->transfer->response)->connection_id = handle->engine->loop.connection_count;
    nc_trace_pass(&handle->engine->trace, NC_TRACE_SOCKET_OPENED, handle->transfer->id);
    return fd;
}

int nc_callbacks_close_socket(void *data, curl_socket_t fd) {
    nc_engine *engine = data;
    nc_sockets_closing(&engine->loop.sockets, fd);
    nc_trace_pass(&engine->trace, NC_TRACE_SOCKET_CLOSED, 0);
    return close(fd);
}
