/// libcurl's easy handles, created per connection pool and reused.
///
/// Constant options are set when a handle is created. A request's options are only set if they differ from the handle's
/// last request. That saves curl_easy_reset() and forty options per request.
#ifndef NETCORE_PRIVATE_HANDLE_H
#define NETCORE_PRIVATE_HANDLE_H

#include "net/transfer.h"

/// Bytes of one kind that arrived since libcurl last delivered or took bytes of a transfer.
typedef struct nc_unheeded {
    uint64_t step; // nc_lane.steps
    size_t bytes;
} nc_unheeded;

struct nc_handle {
    nc_handle *next;
    CURL *easy;
    CURLU *url;      // the last hop's, parsed
    nc_buf url_text; // as written; empty if libcurl must parse it
    nc_engine *engine;
    nc_transfer *transfer;
    int fd;                 // the socket that libcurl last waited for; -1 before
    uint64_t connection_id; // and its connection at that time
    int fd_count;           // sockets that it waits for while it connects
    nc_link socketless;     // in nc_lane.socketless
    bool is_plain_get;      // no method, body or HEAD is set
    bool has_connect_to;
    bool has_extras;           // is not reused
    bool shares_connections;   // may use a multiplexed connection
    bool waits_for_connection; // until it is known if there is one
    bool ignores_length;       // a stream has its own end
    bool is_watched;           // libcurl reports what it does
    long http_version;         // CURL_HTTP_VERSION_
    long receive_bytes;        // of libcurl's buffer
    uint32_t connect_ms;
    struct nc_tls_end *proxy_end;  // of the TLS to the HTTPS proxy that the handle connects through; see tls_hook.h
    struct nc_tls_end *origin_end; // of the connection that the handle opened last
    nc_unheeded refusal;           // of a proxy's refusal
    uint64_t took_in_act;          // nc_lane.acts
    uint64_t took_bytes;           // of the body, in that act
    unsigned calls_over;           // calls of libcurl for the rest of a response whose connection is over
    bool is_unsure;                // libcurl may have more of its stream without reporting it
    bool has_cookies;              // a Cookie field is set
    bool has_target;               // CURLOPT_REQUEST_TARGET is set
    char detail[CURL_ERROR_SIZE];
};

/// Returns the handle; NULL for one of libcurl's own, which resolve names (DNS over HTTPS).
nc_handle *nc_handle_of(CURL *easy);

/// Creates a handle of `lane` for a transfer's hop, or reuses a free one. Returns NULL if memory is exhausted.
nc_handle *nc_handle_take(nc_lane *lane, const nc_transfer *transfer);
/// Returns a handle to its pool, or frees it if the pool has enough.
void nc_handle_give(nc_lane *lane, nc_handle *handle);
void nc_handle_free(nc_handle *handle);

/// Returns the transfer's proxy settings.
const nc_kept_proxy *nc_handle_proxy(const nc_transfer *transfer);
/// Sets whether libcurl stops at the announced length of a response. Must be called before libcurl reads that field.
void nc_handle_heed_length(nc_handle *handle, bool is_heeded);
/// Closes the hop's connection after it.
void nc_handle_forbid_reuse(nc_handle *handle);
/// Does the same if libcurl drops bytes that it read together with the end of the response.
void nc_handle_watch_excess(nc_handle *handle);
/// Enables nc_exchange_on_progress() until the handle's next use.
void nc_handle_watch_progress(nc_handle *handle);
/// Returns true if the hop may become one of several streams of a connection, apart from its reader's behaviour.
bool nc_handle_may_be_multiplexed(const nc_transfer *transfer);
/// Returns true if TLS may be used although the URL has http: to a proxy, or after an HSTS upgrade.
bool nc_handle_may_need_tls(const nc_transfer *transfer);

/// Checks that the netrc file is still readable, if the hop needs it: libcurl opens it for each request, on the event
/// loop. Returns NC_OK, or the status in transfer->error.
NC_NODISCARD nc_status nc_handle_check_netrc(nc_transfer *transfer);

/// Sets the Cookie field of the hop, also for requests that libcurl sends next by itself: the authorization response
/// has the cookies that the challenge set. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_handle_set_cookies(nc_handle *handle, nc_transfer *transfer);

/// Sets the options of the transfer's hop. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_UNSUPPORTED.
NC_NODISCARD nc_status nc_handle_configure(nc_handle *handle, nc_transfer *transfer);

#endif
