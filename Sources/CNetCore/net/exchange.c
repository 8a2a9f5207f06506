#include "net/exchange.h"

#include "base/trace.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/head.h"
#include "net/response.h"
#include "net/url_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// What a redirect's own body may weigh before its connection is given up instead of read to the end.
static const uint64_t max_discarded_bytes = 64u * 1024u;

size_t nc_exchange_on_header(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    (void)one;
    return nc_head_take_line(transfer, nc_slice_make(bytes, length)) == NC_OK ? length : 0;
}

static nc_status take_body(nc_transfer *transfer, nc_slice bytes) {
    const nc_limits *limits = &transfer->description.limits;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_BODY_CHUNK, transfer->id);
    nc_transfer_enter(transfer, NC_PHASE_BODY);
    if (transfer->leads_on) {
        transfer->body_bytes += bytes.length;
        transfer->ends_early = transfer->body_bytes > max_discarded_bytes;
        return transfer->ends_early ? NC_ERR_STOPPED_BY_CALLER : NC_OK;
    }
    if (bytes.length > limits->max_body_bytes - transfer->body_bytes) {
        return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                "the body is larger than the limit of %llu bytes",
                                (unsigned long long)limits->max_body_bytes);
    }
    transfer->body_bytes += bytes.length;
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        return transfer->sink.on_body(transfer->sink.ctx, transfer->id, bytes) == NC_CONTINUE
                   ? NC_OK
                   : nc_transfer_note(transfer, NC_ERR_STOPPED_BY_CALLER, 0, "the body callback stopped the transfer");
    }
    nc_status status = nc_response_append_body(transfer->response, bytes);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a response body");
}

/// Up to 8.0 libcurl keeps a pointer to the fields of a handle's last response, which it has freed, and appends to one
/// of them when a head begins with a folded line (curl issue 11101): any server could corrupt the heap. Such a head
/// is malformed, and here is the one place where it can be stopped before libcurl sees to it.
static nc_status look_at_head_line(nc_transfer *transfer, nc_slice line) {
    bool is_fold = line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    if (is_fold && nc_response_header_count(transfer->response) == 0) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the response head begins with a fold");
    }
    return NC_OK;
}

size_t nc_exchange_on_body(char *bytes, size_t one, size_t length, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    (void)one;
    if (!transfer->has_head) {
        return look_at_head_line(transfer, nc_slice_make(bytes, length)) == NC_OK ? length : 0;
    }
    return take_body(transfer, nc_slice_make(bytes, length)) == NC_OK ? length : 0;
}

size_t nc_exchange_on_upload(char *bytes, size_t one, size_t capacity, void *data) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    nc_slice body = transfer->description.body;
    size_t left = body.length - transfer->uploaded;
    size_t count = left < capacity * one ? left : capacity * one;
    if (count > 0) {
        memcpy(bytes, body.data + transfer->uploaded, count);
    }
    transfer->uploaded += count;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_UPLOAD_READ, transfer->id);
    if (transfer->phase != NC_PHASE_BODY) {
        nc_transfer_enter(transfer, transfer->uploaded < body.length ? NC_PHASE_SEND : NC_PHASE_REPLY);
    }
    return count;
}

int nc_exchange_on_rewind(void *data, curl_off_t offset, int origin) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > transfer->description.body.length) {
        return CURL_SEEKFUNC_FAIL;
    }
    transfer->uploaded = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

int nc_exchange_on_connected(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port) {
    nc_transfer *transfer = ((nc_handle *)data)->transfer;
    nc_hop_metrics *hop = nc_response_hop(transfer->response);
    (void)local_ip;
    (void)local_port;
    transfer->was_connected = true;
    transfer->attempts++;
    transfer->connected_ns = nc_engine_now(transfer->engine);
    hop->remote_port = (uint16_t)remote_port;
    size_t length = strlen(remote_ip);
    memcpy(hop->remote_address, remote_ip, length < sizeof hop->remote_address ? length + 1 : 0);
    bool has_body = transfer->description.body.length > 0 && !transfer->is_get;
    nc_transfer_enter(transfer, has_body ? NC_PHASE_SEND : NC_PHASE_REPLY);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_CONNECTED, transfer->id);
    return CURL_PREREQFUNC_OK;
}

/// socket(2) with the flags that no process should do without; other systems set them one by one.
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

curl_socket_t nc_exchange_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address) {
    nc_handle *handle = data;
    (void)purpose;
    int fd = open_quietly(address);
    if (fd < 0) {
        handle->transfer->socket_error = errno;
        return CURL_SOCKET_BAD;
    }
    if (nc_sockets_opened(&handle->engine->loop.sockets, fd) != NC_OK) {
        handle->transfer->socket_error = ENOMEM;
        (void)close(fd);
        return CURL_SOCKET_BAD;
    }
    nc_trace_pass(&handle->engine->trace, NC_TRACE_SOCKET_OPENED, handle->transfer->id);
    return fd;
}

int nc_exchange_close_socket(void *data, curl_socket_t fd) {
    nc_engine *engine = data;
    nc_sockets_closing(&engine->loop.sockets, fd);
    nc_trace_pass(&engine->trace, NC_TRACE_SOCKET_CLOSED, 0);
    return close(fd);
}
