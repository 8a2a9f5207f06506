#include "curl/easy_handle.h"

#include "curl/quirks.h"
#include "event_loop/sockets.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static uint64_t number(CURL *easy, CURLINFO which) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, which, &value) == CURLE_OK && value > 0 ? (uint64_t)value : 0;
}

/// Returns the nanoseconds from submit to `at_ns`, at least 1. `at_ns` may be the time at which the round began, which
/// may be earlier than a submit within the round.
static uint64_t since_submit(const nc_transfer *transfer, uint64_t at_ns) {
    return at_ns > transfer->submitted_ns ? at_ns - transfer->submitted_ns : 1;
}

/// libcurl counts microseconds from the hop's start; the response counts nanoseconds from submit.
static uint64_t since_hop_start(const nc_transfer *transfer, CURLINFO which) {
    uint64_t passed_us = number(transfer->handle->easy, which);
    return passed_us == 0 ? 0 : since_submit(transfer, transfer->hop.began_ns + passed_us * 1000);
}

static uint64_t connected_at(const nc_transfer *transfer) {
    uint64_t notified_ns = since_hop_start(transfer, CURLINFO_CONNECT_TIME_T);
    if (!nc_quirk_hides_tcp_time(notified_ns) || transfer->hop.tcp_at_ns == 0) {
        return notified_ns;
    }
    // The time of the round in which it was seen; at the round's beginning the name may have been unresolved.
    uint64_t seen_ns = since_submit(transfer, transfer->hop.tcp_at_ns);
    uint64_t resolved_ns = nc_response_hop(transfer->response)->resolved_ns;
    return seen_ns > resolved_ns ? seen_ns : resolved_ns;
}

void nc_metrics_add(nc_transfer *transfer) {
    CURL *easy = transfer->handle->easy;
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    long connections = 0;
    long request_bytes = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connections);
    (void)curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    hop->connections_opened = (uint32_t)connections;
    hop->is_reused = transfer->hop.was_connected && connections == 0;
    hop->status = nc_response_status(transfer->response);
    hop->http_version = nc_response_http_version(transfer->response);
    hop->started_ns = since_submit(transfer, transfer->hop.began_ns);
    if (!hop->is_reused) {
        hop->resolved_ns = since_hop_start(transfer, CURLINFO_NAMELOOKUP_TIME_T);
        hop->connected_ns = connected_at(transfer);
        hop->secured_ns = since_hop_start(transfer, CURLINFO_APPCONNECT_TIME_T);
        if (nc_quirk_misorders_quic_times(transfer->hop.is_quic) && hop->connected_ns > hop->secured_ns) {
            hop->connected_ns = hop->secured_ns;
        }
    }
    hop->ready_ns = transfer->hop.was_connected ? since_hop_start(transfer, CURLINFO_PRETRANSFER_TIME_T) : 0;
    if (transfer->hop.first_byte_ns != 0) {
        // Not CURLINFO_STARTTRANSFER_TIME_T, which may be that of the first byte of an upload. This is the time of the
        // round, in which the connection may have become ready too.
        uint64_t first_byte_ns = since_submit(transfer, transfer->hop.first_byte_ns);
        hop->first_byte_ns = first_byte_ns > hop->ready_ns ? first_byte_ns : hop->ready_ns;
    }
    bool is_body_apart =
        transfer->request.has_body && nc_quirk_omits_body_from_request_size(transfer->engine->libcurl_version);
    hop->sent_bytes = (uint64_t)request_bytes + (is_body_apart ? number(easy, CURLINFO_SIZE_UPLOAD_T) : 0);
    hop->head_bytes = transfer->hop.head_bytes;
    // Not CURLINFO_SIZE_DOWNLOAD_T, which may include chunk framing.
    hop->received_bytes = atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed);
    hop->decoded_bytes = transfer->hop.body_bytes;
}

/// Returns the hop's socket if it is open, otherwise -1. libcurl searches all its connections for the socket. So it is
/// asked only if the socket that it last waited for may not be the hop's. A stream shares its socket, and a new
/// connection may have tried several sockets.
static int open_socket(const nc_transfer *transfer, const nc_hop_metrics *hop) {
    const nc_easy_handle *handle = transfer->handle;
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (hop->is_reused && hop->http_version < NC_HTTP_VERSION_2 && handle->connection_id != 0 &&
        nc_sockets_connection(&transfer->engine->loop.sockets, handle->fd) == handle->connection_id) {
        return handle->fd;
    }
    return curl_easy_getinfo(handle->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK ? fd : CURL_SOCKET_BAD;
}

void nc_metrics_record_address(nc_transfer *transfer, const char *remote_ip, int remote_port) {
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    size_t length = strlen(remote_ip);
    // Over a Unix socket libcurl reports its path as the address, and the URL's port.
    if (nc_transfer_unix_socket(transfer) == NULL) {
        hop->remote_port = (uint16_t)remote_port;
        memcpy(hop->remote_address, remote_ip, length < sizeof hop->remote_address ? length + 1 : 0);
    }
}

/// Queries the system: libcurl may report no address of a connection that is not ready.
static void record_peer(nc_transfer *transfer) {
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer;
    socklen_t length = sizeof peer;
    char text[INET6_ADDRSTRLEN];
    if (transfer->handle->fd < 0 || getpeername(transfer->handle->fd, (struct sockaddr *)&peer, &length) != 0) {
        return; // of a socket that is not the connected one
    }
    bool is_v6 = peer.any.ss_family == AF_INET6;
    const void *address = is_v6 ? (const void *)&peer.v6.sin6_addr : (const void *)&peer.v4.sin_addr;
    if ((is_v6 || peer.any.ss_family == AF_INET) && inet_ntop(peer.any.ss_family, address, text, sizeof text) != NULL) {
        nc_metrics_record_address(transfer, text, ntohs(is_v6 ? peer.v6.sin6_port : peer.v4.sin_port));
    }
}

void nc_metrics_record_tcp(nc_transfer *transfer) {
    if (transfer->phase != NC_PHASE_CONNECT) {
        return;
    }
    if (transfer->hop.tcp_at_ns == 0) {
        transfer->hop.tcp_at_ns = transfer->engine->loop.now_ns;
    }
    if (nc_response_hop(transfer->response)->remote_address[0] == '\0') {
        record_peer(transfer);
    }
}

void nc_metrics_forget_tcp(nc_transfer *transfer) {
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    transfer->hop.tcp_at_ns = 0;
    hop->remote_port = 0;
    hop->remote_address[0] = '\0';
}

/// Returns when the hop was over: the time of the round, or the latest recorded time, because libcurl's clock may be
/// ahead.
static uint64_t ended_at(const nc_transfer *transfer, const nc_hop_metrics *hop) {
    const uint64_t moments[] = {hop->resolved_ns, hop->connected_ns, hop->secured_ns, hop->ready_ns,
                                hop->first_byte_ns};
    uint64_t latest_ns = since_submit(transfer, transfer->engine->loop.now_ns);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        latest_ns = moments[i] > latest_ns ? moments[i] : latest_ns;
    }
    return latest_ns;
}

void nc_metrics_record(nc_transfer *transfer) {
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    nc_metrics_add(transfer);
    if (!transfer->hop.was_connected && hop->connections_opened == (uint32_t)transfer->hop.opened) {
        hop->connection_id = 0; // No connection was established.
        nc_metrics_forget_tcp(transfer);
    }
    // libcurl reports the connection only now, and only while its socket is open. Otherwise the record keeps the last
    // connection that was opened or reused.
    int fd = open_socket(transfer, hop);
    if (fd != CURL_SOCKET_BAD) {
        hop->connection_id = nc_sockets_connection(&transfer->engine->loop.sockets, fd);
        nc_sockets_idle(&transfer->engine->loop.sockets, fd, transfer->hop.socket_key);
    }
    hop->ended_ns = ended_at(transfer, hop);
}
