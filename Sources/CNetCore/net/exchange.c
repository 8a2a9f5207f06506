#include "net/exchange.h"

#include "base/trace.h"
#include "net/alternatives.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/head.h"
#include "net/limits.h"
#include "net/metrics.h"
#include "net/progress.h"
#include "net/quirks.h"
#include "net/response.h"
#include "net/tls_hook.h"
#include "net/tunnel.h"
#include "net/url_text.h"
#include "net/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Records activity: libcurl delivers or takes bytes.
static void note_step(nc_lane *lane) {
    lane->idle_turns = 0;
    lane->steps++;
}

/// After a stream's buffer was full, libcurl 7.88 reads the remaining bytes once. It reads later bytes in the
/// connection's buffer only when more arrive.
static void note_stream(nc_handle *handle, size_t bytes) {
    nc_lane *lane = handle->transfer->lane;
    if (!handle->transfer->may_be_multiplexed ||
        !nc_quirk_leaves_stream_bytes_unread(handle->engine->libcurl_version)) {
        return;
    }
    handle->took_bytes = (handle->took_in_act == lane->acts ? handle->took_bytes : 0) + bytes;
    handle->took_in_act = lane->acts;
    if (bytes == 0 || lane->is_nudging || handle->took_bytes >= (uint64_t)handle->receive_bytes) {
        handle->is_unsure = true;
        lane->has_unsure = true;
    }
}

/// One line, except for trailers that arrived while the reader was paused: libcurl buffers those and delivers them
/// together.
size_t nc_exchange_on_header(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    (void)one;
    if (transfer->flow.is_left) {
        return length;
    }
    note_step(transfer->lane);
    if (!transfer->was_connected) {
        return nc_tunnel_take_line(transfer, nc_slice_make(bytes, length)) == NC_OK ? length : 0;
    }
    transfer->has_heard = true;
    note_stream(data, 0);
    for (size_t at = 0; at < length;) {
        const char *end = transfer->has_head ? memchr(bytes + at, '\n', length - at) : NULL;
        size_t count = end != NULL ? (size_t)(end - bytes) + 1 - at : length - at;
        if (nc_head_take_line(transfer, nc_slice_make(bytes + at, count)) != NC_OK) {
            return 0;
        }
        at += count;
    }
    return length;
}

/// Up to 8.0 libcurl keeps a pointer to the freed fields of a handle's last response. It appends to one of them if a
/// head begins with a folded line (curl issue 11101), so any server could corrupt the heap. Such a head is malformed,
/// and it can only be stopped here, before libcurl processes it.
static nc_status look_at_head_line(nc_transfer *transfer, nc_slice line) {
    bool is_fold = line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    if (!is_fold) {
        return NC_OK;
    }
    if (!transfer->was_connected && !transfer->has_tunnel_field) {
        return nc_transfer_note(transfer, NC_ERR_PROXY, CURLE_WEIRD_SERVER_REPLY,
                                "the proxy's head begins with a fold");
    }
    if (transfer->was_connected && nc_response_header_count(transfer->response) == 0) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the response head begins with a fold");
    }
    return NC_OK;
}

size_t nc_exchange_on_body(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    nc_slice piece = nc_slice_make(bytes, length);
    (void)one;
    if (transfer->flow.is_left) {
        return length;
    }
    note_step(transfer->lane);
    if (!transfer->was_connected || (transfer->is_head_held && !nc_head_is_followed_by_body(transfer))) {
        return look_at_head_line(transfer, piece) == NC_OK ? length : 0;
    }
    if (!transfer->has_head) {
        return look_at_head_line(transfer, piece) == NC_OK ? length : 0;
    }
    note_stream(data, length);
    if (transfer->is_head_held && nc_head_release(transfer) != NC_OK) {
        return 0;
    }
    return nc_flow_receive(transfer, piece);
}

/// libcurl drops bytes that it read after the end of a response. 7.88 keeps the connection if that was the end of the
/// head or of the chunks. More of them may still arrive, and would be taken for the next response (RFC 9112, 6.3).
int nc_exchange_on_said(CURL *easy, curl_infotype type, char *bytes, size_t length, void *data) {
    static const char *const said[] = {"Excess found", "Leftovers after chunking"};
    (void)easy;
    for (size_t i = 0; type == CURLINFO_TEXT && i < sizeof said / sizeof *said; i++) {
        size_t count = strlen(said[i]);
        if (length >= count && memcmp(bytes, said[i], count) == 0) {
            nc_handle_forbid_reuse(data);
        }
    }
    return 0;
}

size_t nc_exchange_on_upload(char *bytes, size_t one, size_t capacity, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    nc_upload *upload = &transfer->upload;
    note_step(transfer->lane);
    size_t room = nc_flow_send_room(transfer, capacity * one);
    if (room == 0) {
        return CURL_READFUNC_PAUSE;
    }
    size_t count = nc_upload_read(transfer, (uint8_t *)bytes, room);
    if (count == CURL_READFUNC_PAUSE) {
        nc_flow_rest_sending(transfer);
    }
    if (count == CURL_READFUNC_PAUSE || count == CURL_READFUNC_ABORT) {
        return count;
    }
    uint64_t sent = atomic_fetch_add_explicit(&upload->sent, count, memory_order_relaxed) + count;
    nc_flow_sent(transfer, count);
    nc_limits_get_on(transfer);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_UPLOAD_READ, transfer->id);
    // After an interim head, such as 100 Continue, or a challenge with credentials, the response is still to come.
    bool is_answered = transfer->is_in_head || (transfer->has_head && !transfer->is_head_held);
    bool is_whole = count == 0 || sent == upload->length;
    if (is_answered && is_whole) {
        note_stream(data, 0); // Its last piece may close the stream, which 7.88 also notices only when it reads.
    }
    nc_transfer_enter(transfer, is_answered ? NC_PHASE_BODY : is_whole ? NC_PHASE_REPLY : NC_PHASE_SEND);
    nc_progress_note(transfer, false);
    return count;
}

int nc_exchange_on_rewind(void *data, curl_off_t offset, int origin) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    bool is_there = origin == SEEK_SET && offset >= 0 && nc_upload_seek(transfer, (uint64_t)offset);
    return is_there ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/// Limit of a proxy's response that refuses a CONNECT.
enum { MAX_REFUSAL_BYTES = 1 << 20 };

/// libcurl drops the body of a challenge of any length without a callback.
static bool is_challenge_too_large(nc_transfer *transfer, curl_off_t got) {
    uint64_t max_bytes = nc_delivery_max_bytes(transfer);
    if (!transfer->is_head_held || got <= 0 || (uint64_t)got <= max_bytes) {
        return false;
    }
    (void)nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                           "the body of a challenge is larger than the limit of %llu bytes",
                           (unsigned long long)max_bytes);
    return true;
}

/// libcurl reads the response to a CONNECT byte by byte while bytes are available, and calls this before each. An
/// endless body would block the event loop.
static bool is_refusal_too_large(nc_handle *handle) {
    nc_transfer *transfer = handle->transfer;
    if (nc_lane_count_unheeded(transfer->lane, &handle->refusal, 1) <= MAX_REFUSAL_BYTES) {
        return false;
    }
    const nc_kept_proxy *proxy = nc_handle_proxy(transfer);
    nc_slice place = nc_url_authority(nc_slice_of(proxy->url != NULL ? proxy->url : ""));
    (void)nc_transfer_note(transfer, NC_ERR_PROXY, CURLE_RECV_ERROR, "the proxy %.*s refuses with more than 1 MiB",
                           (int)place.length, (const char *)place.data);
    return true;
}

int nc_exchange_on_progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent) {
    nc_handle *handle = data;
    (void)to_get;
    (void)to_send;
    (void)sent;
    // An idle handle has no transfer.
    return handle->transfer != NULL && (is_challenge_too_large(handle->transfer, got) || is_refusal_too_large(handle));
}

/// Returns true if a response may claim to be HTTP/2 or 3 here. `easy` is NULL without TLS.
static bool may_be_multiplexed(const nc_transfer *transfer, CURL *easy) {
    nc_http_choice choice = transfer->description.http;
    return choice == NC_HTTP_2_PRIOR_KNOWLEDGE || choice == NC_HTTP_3 ||
           (transfer->detour != NULL && nc_detour_is_http3(transfer->detour)) ||
           (easy != NULL && nc_tls_may_be_multiplexed(easy));
}

/// RFC 9112, 9.2: bytes that arrived before the request do not belong to its response. libcurl below 8.0 would use them
/// as such: a smuggled response, or the 408 of a server that timed out.
static bool has_leftover(const nc_handle *handle, int local_port) {
    const nc_transfer *transfer = handle->transfer;
    const nc_sockets *sockets = &handle->engine->loop.sockets;
    if (transfer->may_be_multiplexed) {
        return false;
    }
    if (nc_tls_has_unread(handle->easy) || nc_sockets_has_unread(sockets, transfer->socket_key)) {
        return true;
    }
    // A challenge arrived over it, and the hop that opened it has not returned it to the idle connections.
    bool is_its_own = transfer->is_head_held &&
                      (nc_transfer_unix_socket(transfer) != NULL || nc_sockets_has_port(handle->fd, local_port));
    return is_its_own && nc_sockets_is_unread(sockets, handle->fd);
}

/// Records which connection it is. At the hop's end libcurl does not know a connection that has closed, or that other
/// streams still use.
static void note_connection(const nc_handle *handle, bool is_new, int local_port) {
    nc_transfer *transfer = handle->transfer;
    nc_sockets *sockets = &handle->engine->loop.sockets;
    if (!is_new) {
        nc_response_hop(transfer->response)->connection_id = nc_sockets_kept_connection(sockets, transfer->socket_key);
    } else if (transfer->may_be_multiplexed && nc_sockets_has_port(handle->fd, local_port)) {
        nc_sockets_kept(sockets, handle->fd, transfer->socket_key); // Others join it before the hop ends.
    }
}

/// Returns true if libcurl resends a request because an idle connection ended without a byte. It would do that over up
/// to five idle connections, also for a request that is not idempotent.
static bool is_repeat(const nc_transfer *transfer) {
    // Over HTTP/2 it also resends what the server has not processed (RFC 9113, 8.7), which only the frames show.
    return transfer->was_connected && transfer->attempts > 0 && !transfer->has_heard &&
           !nc_verdict_is_unprocessed(transfer);
}

/// A request that the server may have processed is not resent (RFC 9110, 9.2.2). Returns false if the hop ends because
/// of that.
static bool may_repeat(nc_transfer *transfer) {
    long number = 0;
    if (transfer->error.status != NC_OK) {
        return false; // After a challenge, 7.88 mistakes a failed body for a dead connection.
    }
    if (transfer->has_head && !transfer->is_head_held) {
        (void)nc_transfer_note(transfer, NC_ERR_HTTP2, CURLE_HTTP2_STREAM,
                               "the server broke its answer off and asks for HTTP/1.1");
        return false;
    }
    if (nc_verdict_is_calmed(transfer)) {
        return false;
    }
    if (!is_repeat(transfer) || nc_verdict_may_be_sent_again(transfer)) {
        return true;
    }
    if (transfer->may_be_multiplexed && nc_tls_tap(transfer->tls_end) == NULL) {
        (void)nc_transfer_note(transfer, NC_ERR_HTTP2, CURLE_HTTP2,
                               "the stream ended before an answer began, and the server may have taken the request");
        return false;
    }
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_OS_ERRNO, &number);
    bool is_reset = number == ECONNRESET || number == EPIPE;
    (void)nc_transfer_note(transfer, is_reset ? NC_ERR_RESET : NC_ERR_EMPTY_REPLY,
                           is_reset ? CURLE_RECV_ERROR : CURLE_GOT_NOTHING,
                           "a kept connection ended before an answer began");
    return false;
}

/// Begins the hop again. Returning this closes the current connection.
static int ask_anew(nc_transfer *transfer) {
    transfer->asks_anew = true;
    nc_response_repeat_hop(transfer->response);
    return CURL_PREREQFUNC_ABORT;
}

/// Begins the hop again on another connection, unless every connection had leftover bytes.
static int leave_leftover(nc_transfer *transfer) {
    if (!transfer->is_head_held) {
        return ask_anew(transfer);
    }
    if (!nc_verdict_may_go_afresh(transfer)) {
        (void)nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                               "the server goes on behind its answer to a challenge");
        return CURL_PREREQFUNC_ABORT;
    }
    transfer->repeats++;
    return ask_anew(transfer);
}

/// Records which protocol a server of the hop's host supports, or of the route that an alternative or override leads
/// to.
static void note_member(nc_transfer *transfer) {
    bool is_shared = transfer->may_be_multiplexed;
    if (transfer->needs_http1) {
        return; // The connection has not offered HTTP/2.
    }
    if (transfer->lane->place_key != 0) {
        transfer->lane->has_shared = transfer->lane->has_shared || is_shared;
        transfer->lane->has_single = transfer->lane->has_single || !is_shared;
    } else if (transfer->host != NULL) {
        transfer->host->has_shared = transfer->host->has_shared || is_shared;
        transfer->host->has_single = transfer->host->has_single || !is_shared;
    }
}

/// Makes libcurl send the path exactly as the URL has it. Returns false if memory is exhausted.
static bool set_target(nc_handle *handle, bool is_secure) {
    const nc_transfer *transfer = handle->transfer;
    const nc_extras *extras = transfer->description.extras;
    const nc_kept_proxy *proxy = nc_handle_proxy(transfer);
    nc_slice url = nc_transfer_url(transfer);
    if (!nc_quirk_rewrites_escapes(handle->engine->libcurl_version, url)) {
        return true;
    }
    bool is_socks = proxy->choice == NC_PROXY_URL && (proxy->url[0] == 's' || proxy->url[0] == 'S');
    bool is_for_proxy = !is_secure && proxy->choice != NC_PROXY_NONE && !is_socks && !proxy->uses_tunnel;
    handle->has_target = true;
    return nc_quirk_set_target(handle->easy, url, extras != NULL && extras->keeps_dot_segments, is_for_proxy) ==
           CURLE_OK;
}

int nc_exchange_on_connected(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    (void)local_ip;
    if (!may_repeat(transfer)) {
        return CURL_PREREQFUNC_ABORT;
    }
    // A failed TLS write that was reported as "would block" is not known to libcurl, so it does not rewind.
    if (transfer->upload.sent != 0 && !nc_upload_seek(transfer, 0)) {
        return CURL_PREREQFUNC_ABORT;
    }
    bool goes_afresh = is_repeat(transfer) && nc_verdict_may_go_afresh(transfer);
    transfer->was_connected = true;
    transfer->lost_ns = 0;
    transfer->has_heard = false;
    transfer->handle->calls_over = 0;
    transfer->attempts++;
    if (goes_afresh) {
        transfer->is_afresh = true;
        transfer->repeats++;
        return ask_anew(transfer);
    }
    transfer->socket_key = nc_sockets_key(nc_transfer_unix_socket(transfer), local_port);
    CURL *easy = ((nc_handle *)data)->easy;
    const char *scheme = NULL;
    // With an HTTPS proxy, the visible TLS may be the proxy's.
    bool is_secure = curl_easy_getinfo(easy, CURLINFO_SCHEME, &scheme) == CURLE_OK && scheme != NULL &&
                     nc_slice_is_equal_ignoring_case(nc_slice_of(scheme), nc_slice_of("https"));
    if (is_secure) {
        nc_tls_describe(easy, hop);
        nc_h2_stream_leave(&transfer->stream);
        nc_tls_release_end(transfer->tls_end); // of a connection that ended before its first byte
        if (nc_tls_watch(easy, transfer->lane, &transfer->tls_end) != NC_OK) {
            (void)nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a connection");
            return CURL_PREREQFUNC_ABORT;
        }
    }
    transfer->may_be_multiplexed = may_be_multiplexed(transfer, is_secure ? easy : NULL);
    if (is_secure) {
        note_member(transfer);
    }
    long opened = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &opened);
    note_connection(data, opened != 0, local_port);
    bool is_used = opened == transfer->opened; // by this hop or another one
    transfer->opened = opened;
    if (is_used && has_leftover(data, local_port)) {
        return leave_leftover(transfer);
    }
    nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    if (tap != NULL && is_used && (nc_h2_tap_is_leaving(tap) || nc_tls_is_over(transfer->tls_end))) {
        transfer->is_afresh = true; // libcurl may choose the connection although GOAWAY came with its last response.
        return ask_anew(transfer);
    }
    if (tap != NULL) {
        nc_h2_tap_open_stream(tap, &transfer->stream); // libcurl submits the request right after this call.
    }
    if (!set_target(data, is_secure)) {
        (void)nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a request target");
        return CURL_PREREQFUNC_ABORT;
    }
    nc_metrics_note_address(transfer, remote_ip, remote_port);
    bool has_body = transfer->description.has_body && transfer->upload.length > 0 && !transfer->is_get;
    nc_transfer_enter(transfer, has_body ? NC_PHASE_SEND : NC_PHASE_REPLY);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_CONNECTED, transfer->id);
    return CURL_PREREQFUNC_OK;
}

/// Calls socket(2) with the flags that every process needs; other systems set them one by one.
static int open_quietly(const struct curl_sockaddr *address) {
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
static void set_service(int fd, int family, uint8_t dscp) {
    int octet = dscp << 2;
    if (family == AF_INET) {
        (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &octet, sizeof octet);
    } else if (family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &octet, sizeof octet);
        // An IPv4 address in an IPv6 socket uses the IPv4 option.
        (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &octet, sizeof octet);
    }
}

/// libcurl 8.21 connects to an address in a URL regardless of CURLOPT_IPRESOLVE.
static bool is_of_other_family(const nc_handle *handle, int family) {
    nc_address_family wanted = handle->engine->state.family;
    return (wanted == NC_FAMILY_IPV6 && family == AF_INET) || (wanted == NC_FAMILY_IPV4 && family == AF_INET6);
}

curl_socket_t nc_exchange_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address) {
    nc_handle *handle = data;
    (void)purpose;
    if (!may_repeat(handle->transfer)) {
        return CURL_SOCKET_BAD;
    }
    if (handle->transfer->was_connected) {
        handle->transfer->was_connected = false; // The hop's connection has ended or is closed.
        nc_transfer_enter(handle->transfer, NC_PHASE_CONNECT);
    }
    if (handle->transfer->has_tunnel_status) {
        nc_response_begin_head(handle->transfer->response, 0,
                               NC_HTTP_VERSION_UNKNOWN); // From another proxy, or none.
    }
    bool is_refused = is_of_other_family(handle, address->family);
    int fd = is_refused ? -1 : open_quietly(address);
    if (fd < 0) {
        handle->transfer->socket_error = is_refused ? EAFNOSUPPORT : errno;
        return CURL_SOCKET_BAD;
    }
    if (handle->transfer->description.dscp != 0) {
        set_service(fd, address->family, handle->transfer->description.dscp);
    }
    if (nc_sockets_opened(&handle->engine->loop.sockets, fd, ++handle->engine->loop.connection_count) != NC_OK) {
        handle->transfer->socket_error = ENOMEM;
        (void)close(fd);
        return CURL_SOCKET_BAD;
    }
    nc_metrics_forget_tcp(handle->transfer);
    nc_response_hop(handle->transfer->response)->connection_id = handle->engine->loop.connection_count;
    nc_trace_pass(&handle->engine->trace, NC_TRACE_SOCKET_OPENED, handle->transfer->id);
    return fd;
}

int nc_exchange_close_socket(void *data, curl_socket_t fd) {
    nc_engine *engine = data;
    nc_sockets_closing(&engine->loop.sockets, fd);
    nc_trace_pass(&engine->trace, NC_TRACE_SOCKET_CLOSED, 0);
    return close(fd);
}
