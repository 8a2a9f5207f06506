/// libcurl's easy handles, created per connection pool and reused.
///
/// Constant options are set when a handle is created. A request's options are only set if they differ from the handle's
/// last request. That saves curl_easy_reset() and forty options per request.
#ifndef NETCORE_PRIVATE_EASY_HANDLE_H
#define NETCORE_PRIVATE_EASY_HANDLE_H

#include "curl/connection_pool.h"
#include "state/easy_handle_record.h"
#include "state/transfer_record.h"

/// Creates a handle of a pool for a transfer's hop, or reuses a free one. Returns NULL if memory is exhausted.
nc_easy_handle *nc_easy_handle_acquire(nc_conn_pool *conn_pool, const nc_transfer *transfer);
/// Returns a handle to its pool, or frees it if the pool has enough.
void nc_easy_handle_release(nc_conn_pool *conn_pool, nc_easy_handle *handle);
void nc_easy_handle_free(nc_easy_handle *handle);

/// Makes libcurl stop at the announced length of the response (`was_polled` is true), or ignore the length. Must be
/// called before libcurl reads the Content-Length field.
void nc_easy_handle_check_length(nc_easy_handle *handle, bool was_polled);
/// Makes libcurl close the hop's connection when the hop ends.
void nc_easy_handle_forbid_reuse(nc_easy_handle *handle);
/// Makes libcurl close the hop's connection if it drops bytes that it read together with the end of the response.
void nc_easy_handle_watch_excess(nc_easy_handle *handle);
/// Enables nc_callbacks_on_progress() until the handle's next use.
void nc_easy_handle_watch_progress(nc_easy_handle *handle);

/// Checks that the netrc file is still readable, if the hop needs it: libcurl opens it for each request, on the event
/// loop. Returns NC_OK, or the status in transfer->error.
NC_NODISCARD nc_status nc_easy_handle_check_netrc(nc_transfer *transfer);

/// Sets the Cookie field of the hop, also for requests that libcurl sends next by itself: the authorization response
/// has the cookies that the challenge set. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_easy_handle_set_cookies(nc_easy_handle *handle, nc_transfer *transfer);

/// Sets the options of the transfer's hop. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_UNSUPPORTED.
NC_NODISCARD nc_status nc_easy_handle_configure(nc_easy_handle *handle, nc_transfer *transfer);

/* --- protocol.c: pure decisions about the protocol of a hop --- */

/// Returns the CURL_HTTP_VERSION_ value for the hop.
long nc_protocol_http_version(const nc_transfer *transfer, bool is_secure);
/// Returns true if the hop needs a connection that carries no other request.
bool nc_protocol_is_alone_on_connection(const nc_transfer *transfer, long version, bool is_secure);
/// Returns true if the hop's connection, which is ready, uses QUIC.
bool nc_protocol_uses_quic(const nc_transfer *transfer);
/// Returns the milliseconds after which TCP starts if QUIC has not connected, and the next address if one is silent.
long nc_protocol_tcp_delay_ms(const nc_transfer *transfer);
/// Returns true if the hop's protocol allows several streams on its connection.
bool nc_protocol_may_be_multiplexed(const nc_transfer *transfer);
/// Returns true if TLS may be used although the URL has http: to a proxy, or after an HSTS upgrade.
bool nc_protocol_may_need_tls(const nc_transfer *transfer);
/// Returns true if only some of the servers behind the hop's host, or behind the route of its pool, support HTTP/2.
bool nc_protocol_has_mixed_servers(const nc_transfer *transfer, const nc_conn_pool *conn_pool);

/* --- metrics.c: metrics of a hop, read from libcurl before the handle returns to its pool --- */

/// Records the metrics so far; the hop continues.
void nc_metrics_add(nc_transfer *transfer);
/// Records that TCP is connected, if the hop was connecting. Several events indicate it; the first counts.
void nc_metrics_record_tcp(nc_transfer *transfer);
/// Discards the TCP connection's time and the peer's address, because libcurl opens another socket or connected none.
void nc_metrics_forget_tcp(nc_transfer *transfer);
/// Records the peer's address as libcurl reports it.
void nc_metrics_record_address(nc_transfer *transfer, const char *remote_ip, int remote_port);
/// Records the metrics at the hop's end.
void nc_metrics_record(nc_transfer *transfer);

#endif
