/// A connection pool: the connections, name cache and TLS sessions of one trust policy.
///
/// libcurl reuses connections and sessions across verify callbacks, and cannot close a single idle connection. So each
/// trust policy has its own pool. Event loop thread only.
#ifndef NETCORE_PRIVATE_CONNECTION_POOL_H
#define NETCORE_PRIVATE_CONNECTION_POOL_H

#include "curl/easy_handle.h"
#include "state/connection_pool_record.h"

/// Identifies a pool of an engine. Within one pool, libcurl would share a connection between requests that differ in
/// one of these members. Each test fails without its member (script/quirks). If the clock is set back, the earlier
/// pools are not used any more: see nc_quirk_keeps_expired_addresses().
typedef struct nc_conn_pool_key {
    // libcurl does not know the policy. Test: test_engine_tls, engine__two_policies_never_share_a_connection.
    nc_trust *trust;
    // nc_quirk_mixes_requests(), nc_quirk_stalls_other_streams().
    // Test: test_engine_shared_connections, engine__an_authorization_response_uses_no_busy_http_1_connection.
    bool is_exclusive;
    // A socket option (IP_TOS, IPV6_TCLASS).
    // Test: test_engine_traffic_class, engine__requests_of_different_traffic_classes_share_no_connection.
    uint8_t dscp;
    // nc_auth_options_proxy_key(): a tunnel's fields and schemes.
    // Test: test_engine_tunnels, engine__a_tunnel_is_shared_only_by_requests_with_equal_proxy_fields_and_credentials.
    uint64_t proxy_key;
    // nc_auth_options_user_key(): Negotiate's user, and whether a body waits for a challenge.
    // Test: test_engine_negotiate, engine__an_authenticated_negotiate_connection_is_not_shared_with_other_users.
    // Test: test_engine_bodyless_first_request,
    // bodyless_first_request__does_not_affect_later_requests_on_its_connection.
    uint64_t user_key;
    // The servers that the hop connects to: nc_alt_svc_route_key(), nc_request_copy.endpoints_key, or 0.
    // Test: test_engine_alt_svc_http2, engine__http2_at_a_connect_to_target_is_not_assumed_for_a_host_of_that_name.
    uint64_t endpoint_key;
    // nc_host.epoch: libcurl keeps using a dead connection, but never one of another pool.
    // Test: test_engine_reused_connections_http2,
    // reused_http2__a_dead_connection_is_abandoned_although_other_streams_wait_on_it.
    uint32_t epoch;
} nc_conn_pool_key;

/// Returns the pool of a key, and creates it if needed. Returns NULL with `err` filled on failure.
nc_conn_pool *nc_conn_pool_find_or_create(nc_engine *engine, nc_conn_pool_key key, nc_error *err);
/// Closes a pool without transfers, and all its connections.
void nc_conn_pool_close(nc_conn_pool *conn_pool);

/// Counts a transfer that enters the pool.
void nc_conn_pool_add(nc_conn_pool *conn_pool);
/// Counts a transfer that leaves the pool.
void nc_conn_pool_remove(nc_conn_pool *conn_pool);

/// Queues the transfer until the authorities are loaded: events->roots_ready follows, never synchronously. Returns
/// false, with the reason in `roots_error`, if they cannot be loaded.
NC_NODISCARD bool nc_conn_pool_await_roots(nc_conn_pool *conn_pool, nc_transfer *transfer);
/// Returns true if a secure hop must wait for nc_conn_pool_await_roots().
bool nc_conn_pool_needs_roots(const nc_conn_pool *conn_pool);

/// Handles an event of a socket (CURL_CSELECT_* bits), or CURL_SOCKET_TIMEOUT with 0.
void nc_conn_pool_perform(nc_conn_pool *conn_pool, curl_socket_t fd, int events);
/// Removes a hop's handle from libcurl. It is freed unless it is kept for other hops.
void nc_conn_pool_reclaim(nc_conn_pool *conn_pool, nc_easy_handle *handle, bool is_kept);
/// Returns the next handle whose hop libcurl has finished, with its result in `code`; NULL if there is none.
nc_easy_handle *nc_conn_pool_next_done(nc_conn_pool *conn_pool, CURLcode *code);
/// Makes libcurl try the next address of connecting transfers: see nc_quirk_open_next_address().
void nc_conn_pool_open_next(nc_conn_pool *conn_pool);
/// Asks libcurl when it must be called again, after a call that found nothing due.
void nc_conn_pool_update_timer(nc_conn_pool *conn_pool);
/// Returns true if the pool is empty and no longer useful.
bool nc_conn_pool_is_exhausted(const nc_conn_pool *conn_pool);

/* --- connection_streams.c: events of the pool's streams that libcurl does not report by itself --- */

/// Returns true if another transfer of the pool uses the same connection.
bool nc_conn_streams_share(const nc_conn_pool *conn_pool, const nc_transfer *transfer);
/// Makes libcurl check all streams in flight. It reports the end of an HTTP/2 connection only to the transfer that read
/// it. For the others, libcurl would notice the end only when more bytes arrive, possibly never.
void nc_conn_streams_recheck(nc_conn_pool *conn_pool);
/// Does the same after a connection has ended (nc_tls_is_over()). The engine then ends the transfers of the connection
/// that libcurl does not end.
void nc_conn_streams_end(nc_conn_pool *conn_pool);

#endif
