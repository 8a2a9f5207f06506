/// libcurl's easy handles, made once per lane and used again.
///
/// What never changes is set when a handle is made. What a request changes is set anew for each, and only where it
/// differs from the handle's last request, which saves curl_easy_reset() and forty options a time.
#ifndef NETCORE_PRIVATE_HANDLE_H
#define NETCORE_PRIVATE_HANDLE_H

#include "net/transfer.h"

/// Bytes of one kind that came since libcurl last gave or took anything of a transfer's.
typedef struct nc_unheeded {
    uint64_t step; // nc_lane.steps
    size_t bytes;
} nc_unheeded;

struct nc_handle {
    nc_handle *next;
    CURL *easy;
    CURLU *url;      // the last hop's, taken apart
    nc_buf url_text; // as it is written; empty where libcurl is to take it apart
    nc_engine *engine;
    nc_transfer *transfer;
    int fd;                 // the socket that libcurl last waited for; -1 before
    uint64_t connection_id; // and the connection that it then was
    int fd_count;           // sockets that it waits for while it connects
    nc_link socketless;     // its place in nc_lane.socketless
    bool is_plain_get;      // no method, body or HEAD is set
    bool has_connect_to;
    bool has_extras;           // is not used again
    bool shares_connections;   // may go over one that carries several streams
    bool waits_for_connection; // until it is known whether one does
    bool ignores_length;       // a stream tells its own end
    bool is_watched;           // libcurl says what it does
    long http_version;         // CURL_HTTP_VERSION_
    long receive_bytes;        // of libcurl's buffer
    uint32_t connect_ms;
    struct nc_tls_end *proxy_end;  // of the TLS to an HTTPS proxy, over which the handle connects; see tls_hook.h
    struct nc_tls_end *origin_end; // of the connection that the handle opened last
    nc_unheeded refusal;           // of a proxy's
    uint64_t took_in_act;          // nc_lane.acts
    uint64_t took_bytes;           // of the body, in that one
    unsigned calls_over;           // of libcurl, for the rest of a response whose connection is over
    bool is_unsure;                // libcurl may have more of its stream, and not say so
    bool has_cookies;              // a Cookie field is set
    bool has_target;               // CURLOPT_REQUEST_TARGET is set
    char detail[CURL_ERROR_SIZE];
};

/// Whose handle it is; NULL for one of libcurl's own, which ask for names (DNS over HTTPS).
nc_handle *nc_handle_of(CURL *easy);

/// Makes a handle of `lane` for a transfer's hop or takes a free one; NULL when memory is short.
nc_handle *nc_handle_take(nc_lane *lane, const nc_transfer *transfer);
/// Gives a handle back to its lane, or frees it when the lane has enough.
void nc_handle_give(nc_lane *lane, nc_handle *handle);
void nc_handle_free(nc_handle *handle);

/// The proxy settings that the transfer is under.
const nc_kept_proxy *nc_handle_proxy(const nc_transfer *transfer);
/// Whether libcurl is to stop reading at the length that a reply announces: said before it reads that field.
void nc_handle_heed_length(nc_handle *handle, bool is_heeded);
/// The hop's connection serves nobody after it.
void nc_handle_forbid_reuse(nc_handle *handle);
/// The same, should libcurl drop bytes that it read together with the end of the answer.
void nc_handle_watch_excess(nc_handle *handle);
/// Has nc_exchange_on_progress() asked from now on, until the handle's next use.
void nc_handle_watch_progress(nc_handle *handle);
/// Whether the hop may become one of several streams of a connection, but for what its reader may do.
bool nc_handle_may_be_multiplexed(const nc_transfer *transfer);
/// Whether TLS may be spoken although the URL says http: to a proxy, or because a host asked for it.
bool nc_handle_may_need_tls(const nc_transfer *transfer);

/// Whether the netrc file, where the hop needs one, can still be read: libcurl opens it for each request, on the loop.
/// NC_OK, or what transfer->error has.
NC_NODISCARD nc_status nc_handle_check_netrc(nc_transfer *transfer);

/// Sets the Cookie field that the hop is sent with, also of what libcurl sends next by itself: the answer to a
/// challenge has the cookies that the challenge set. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_handle_set_cookies(nc_handle *handle, nc_transfer *transfer);

/// Sets what the transfer's hop asks. NC_OK, NC_ERR_NO_MEMORY, NC_ERR_UNSUPPORTED.
NC_NODISCARD nc_status nc_handle_configure(nc_handle *handle, nc_transfer *transfer);

#endif
