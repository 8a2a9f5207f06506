/// The record of an easy handle. Event loop thread only.
#ifndef NETCORE_PRIVATE_EASY_HANDLE_RECORD_H
#define NETCORE_PRIVATE_EASY_HANDLE_RECORD_H

#include "state/transfer_record.h"

/// Counts bytes of one kind that arrived since libcurl last delivered or read bytes of a transfer.
typedef struct nc_undelivered_count {
    uint64_t step; // the value of nc_conn_pool.step_count at the last count
    size_t bytes;
} nc_undelivered_count;

struct nc_easy_handle {
    nc_easy_handle *next;
    CURL *easy;
    CURLU *url;      // the parsed URL of the last hop
    nc_buf url_text; // the same URL as text; empty if libcurl must parse the next URL
    nc_engine *engine;
    nc_transfer *transfer;
    int fd;                 // the socket that libcurl last waited for; -1 before
    uint64_t connection_id; // the connection of `fd`
    int fd_count;           // number of sockets that libcurl waits for while it connects
    nc_link socketless;     // in nc_conn_pool.socketless
    bool is_plain_get;      // no method, body or HEAD is set
    bool has_connect_to;
    bool has_options;          // has options of one request, so it is not reused
    bool shares_connections;   // may use a multiplexed connection
    bool waits_for_connection; // waits until it is known if a connection can be multiplexed
    bool ignores_length;       // libcurl does not count the body's bytes, because a stream has its own end
    bool is_watched;           // libcurl calls the debug callback
    long http_version;         // CURL_HTTP_VERSION_* number
    long tcp_delay_ms;         // CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS
    long receive_bytes;        // size of libcurl's receive buffer
    uint32_t connect_ms;
    struct nc_tls_connection *proxy_tls;  // to the HTTPS proxy that the handle connects through; see tls_hook.h
    struct nc_tls_connection *origin_tls; // to the origin, of the connection that the handle opened last
    nc_undelivered_count refusal;         // of a proxy's response that refuses CONNECT
    uint64_t delivered_in_call;           // the value of nc_conn_pool.call_count when body bytes were last delivered
    uint64_t delivered_bytes;             // body bytes delivered during that call of libcurl
    unsigned drain_calls;                 // calls of libcurl to read the rest of a response whose connection has ended
    bool may_have_buffered_data;          // libcurl may have unreported bytes of its stream
    bool has_cookies;                     // a Cookie field is set
    bool has_target;                      // CURLOPT_REQUEST_TARGET is set
    char detail[CURL_ERROR_SIZE];
};

#endif
