/// Workarounds for what libcurl does, and for what it reports: its codes, measurements and English texts. No other file
/// names its versions.
///
/// script/quirks checks this header and writes docs/libcurl.md from it. Each workaround has its versions and a test
/// that shows it. "Applied to all" means that the decision does not depend on the version: the named versions are those
/// in which the behaviour was seen. A text is matched only where libcurl gives no code and no CURLINFO for the fact,
/// and NetKit has not observed it; each such function gives the reason. Pure, except with a handle or socket: event
/// loop thread only.
#ifndef NETCORE_PRIVATE_QUIRKS_H
#define NETCORE_PRIVATE_QUIRKS_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/engine_options.h>
#include <netcore/response.h>
#include <netcore/status.h>
#include <stdbool.h>

/// The oldest supported version, as a text for messages.
#define NC_QUIRK_OLDEST_VERSION "7.88"
/// Returns the version of the loaded libcurl, such as 0x075801. It takes thousands of instructions.
unsigned nc_quirk_libcurl_version(void);
/// Returns true if libcurl is older than NC_QUIRK_OLDEST_VERSION.
bool nc_quirk_is_too_old(unsigned libcurl_version);

/* --- connections --- */

/// Keeps libcurl from reading its own CA bundle. CURLOPT_CAINFO = NULL means the built-in bundle, which is parsed again
/// for each connection. NetKit sets a certificate that verifies nothing; trust comes from the pool's X509_STORE.
/// Versions: 8.17 and later. Test: test_engine_ca_bundle, engine__a_connection_does_not_open_the_built_in_ca_bundle.
CURLcode nc_quirk_set_no_ca_bundle(CURL *easy, unsigned libcurl_version);

/// Returns true if libcurl would read bytes that arrived on an idle connection as the next response (RFC 9112, 9.2).
/// NetKit looks for unread bytes, in both layers of TLS too, and uses a new connection.
/// Versions: all. Test: test_engine_unsolicited_bytes, unsolicited_bytes__are_no_response_to_the_next_request.
bool nc_quirk_uses_leftover_bytes(bool is_multiplexed);

/// Returns true if libcurl keeps a connection although its server sent a response instead of 100 Continue (RFC 9112,
/// 9.3). The server may still wait for the body. NetKit closes the connection.
/// Versions: 7.88, applied to all.
/// Test: test_engine_expect_continue, engine__a_success_instead_of_100_continue_closes_the_connection_regression_4.
bool nc_quirk_keeps_unread_body_connection(nc_http_version version, bool expects_continue, bool is_sending);

/// Returns true if an easy handle must not be reused after this number of attempts. libcurl counts resends over the
/// life of a handle, and gives up at the sixth. NetKit frees the handle.
/// Versions: 7.88, applied to all.
/// Test: test_engine_reused_connections, reused_connection__one_after_the_other_can_be_replaced.
bool nc_quirk_forbids_handle_reuse(unsigned attempts);

/// Returns true if a transfer that waits for the handshake of another transfer also waits for that transfer's response,
/// if the handshake negotiates HTTP/1.1. NetKit waits only for hosts that are known to multiplex.
/// Versions: 8.0 and later.
/// Test: test_engine_shared_connections, engine__a_request_does_not_wait_for_the_response_after_anothers_handshake.
bool nc_quirk_forgets_waiting_transfers(unsigned libcurl_version);

/// Returns true if libcurl would send two requests at the same time over one HTTP/1.1 connection: after a host has used
/// HTTP/2, libcurl treats every connection of the pool as multiplexed. NetKit gives such requests exclusive
/// connections.
/// Versions: 7.88, applied to all.
/// Test: test_engine_shared_connections, engine__a_busy_connection_of_http_1_carries_no_other_request.
bool nc_quirk_mixes_requests(bool may_use_http2, bool may_be_multiplexed);

/// Returns true if libcurl may resend a request after the engine has recorded an error: after a challenge, libcurl
/// treats a failed body source as a dead connection. NetKit ends the transfer.
/// Versions: 7.88, applied to all.
/// Test: test_engine_bodyless_first_request, bodyless_first_request__a_failed_body_source_is_not_retried.
bool nc_quirk_resends_after_error(nc_status recorded);

/// Returns true if libcurl may read the rest of a response before it requests events of the socket. NetKit treats a
/// socket as read to its end if libcurl has requested no events of it.
/// Versions: 8.14, applied to all. Test: test_engine_pause, engine__a_complete_response_does_not_wait_for_the_source.
bool nc_quirk_reads_before_it_polls(nc_http_version version);

/// Returns why curl_multi_init() failed. If no file descriptor is free, curl_multi_init() fails without a code. NetKit
/// reads errno (`error`).
/// Versions: 8.16 and later, applied to all.
/// Test: test_engine_alt_svc, engine__descriptor_exhaustion_does_not_mark_an_alternative_service_as_failed.
nc_status nc_quirk_multi_init_error(int error);

/// Returns true if libcurl would use a QUIC connection again although its end has been reported: each further request
/// fails at once. NetKit uses another pool for the host.
/// Versions: 8.14, applied to all.
/// Test: Interop/test_http3_faults, http3__a_connection_closed_before_the_response_is_an_http3_error.
bool nc_quirk_keeps_dead_quic_connection(bool is_quic, CURLcode code);

/* --- addresses --- */

/// Makes libcurl open the socket of the next address. If an address does not respond, libcurl closes its socket. It
/// opens the next socket when it is called again, but requests no call. NetKit makes that call. `pause_mask` is the
/// current one of the transfer.
/// Versions: 7.88, applied to all.
/// Test: test_engine_addresses, engine__an_unresponsive_address_leaves_time_for_the_next.
void nc_quirk_open_next_address(CURL *easy, int pause_mask);

/// Ends the connection of a cancelled DNS query (DNS over HTTPS). libcurl keeps the connection of a cancelled DNS
/// query, and uses the late response for the next name. NetKit shuts the socket down.
/// Versions: 7.88, applied to all.
/// Test: test_engine_addresses, engine__a_cancelled_dns_query_closes_its_doh_connection.
void nc_quirk_end_cancelled_query(curl_socket_t fd);

/// Returns true if libcurl would use expired addresses, because the wall clock was set back. `ahead_s` is the lead of
/// the wall clock over the monotonic clock, `most_s` the largest lead so far. NetKit then creates new pools.
/// Versions: 7.88 to 8.17, applied to all.
/// Test: test_engine_clock, engine__setting_the_clock_back_does_not_extend_the_dns_cache.
bool nc_quirk_keeps_expired_addresses(int64_t ahead_s, int64_t most_s);

/// Returns true if libcurl would connect to an address of the wrong family: it ignores CURLOPT_IPRESOLVE if the URL
/// contains an address. `family` is AF_INET or another one. NetKit opens no socket.
/// Versions: 8.21, applied to all. Test: test_engine_addresses, engine__addresses_of_the_other_family_are_ignored.
bool nc_quirk_is_unwanted_family(nc_address_family wanted, int family);

/* --- HTTP/2 --- */

/// Sizes of the receive buffer that are larger than one read, because of nc_quirk_leaves_stream_bytes_unread(): of 32
/// KiB, or over TLS of a record of 16 KiB and the decoded head.
enum { NC_QUIRK_STREAM_RECEIVE_BYTES = 64 * 1024, NC_QUIRK_RECORD_RECEIVE_BYTES = 20 * 1024 };
/// Returns true if libcurl makes only one further read of a stream whose buffer is full. Bytes that are already in the
/// connection's buffer then wait until more arrive. NetKit uses larger buffers, and calls libcurl until it delivers no
/// more bytes.
/// Versions: 7.88. Test: test_engine_shared_connections, engine__a_stream_receives_all_bytes_that_arrived_for_it.
bool nc_quirk_leaves_stream_bytes_unread(unsigned libcurl_version);

/// Returns true if an early response to an upload can be lost when another stream reads it. NetKit sends bodies over
/// 65,535 bytes on exclusive connections.
/// Versions: 7.88.
/// Test: Interop/test_nginx, nginx__responds_to_uploads_that_it_does_not_read.
bool nc_quirk_loses_early_responses(unsigned libcurl_version);

/// Returns true if a paused stream would stall the other streams of its connection. NetKit gives such a request an
/// exclusive connection.
/// Versions: 7.88, applied to all. Test: Interop/test_nghttpd, nghttpd__paused_streams_do_not_block_others.
bool nc_quirk_stalls_other_streams(bool may_pause, bool has_receive_rate);

/// Returns true if libcurl does not end the stream of a request that it first sends without the body. Servers wait for
/// that end. NetKit uses HTTP/1.1.
/// Versions: 7.88. Test: test_engine_bodyless_first_request, bodyless_first_request__is_a_complete_request_over_http_2.
bool nc_quirk_leaves_bodiless_stream_open(unsigned libcurl_version);

/// Returns true if a second request over a cleartext HTTP/2 connection fails with a framing error. NetKit uses a
/// separate connection for each request.
/// Versions: 7.88.
/// Test: test_engine_http2_cleartext_auth,
/// http2_cleartext_auth__an_authorization_response_uses_no_other_users_connection.
bool nc_quirk_breaks_second_cleartext_request(unsigned libcurl_version);

/// Returns true if libcurl may report success although the stream has not ended: after RST_STREAM with NO_ERROR, and in
/// 7.88 after most connection errors. NetKit reads the frames itself (h2_tap.h).
/// Versions: all.
/// Test: test_engine_stream_ends, streams__a_body_without_end_stream_is_an_error_however_the_connection_ends.
bool nc_quirk_hides_stream_end(nc_http_version version);

/// Returns true if libcurl must stop at the announced length. If libcurl reads a stream to its last frame, it resets
/// the stream, and servers treat many resets as an attack. NetKit lets libcurl read to the last frame only while the
/// body of the request is being sent.
/// Versions: 7.88, applied to all.
/// Test: test_engine_streams, engine_streams__a_response_counts_although_the_upload_is_rejected.
bool nc_quirk_resets_streams_read_to_their_end(nc_http_version version, bool is_sending);

/// Returns true if libcurl would not offer HTTP/2 with CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, because it then skips ALPN
/// over TLS. NetKit uses CURL_HTTP_VERSION_2TLS instead.
/// Versions: 8.0 and later, applied to all. Test: test_engine_protocols,
/// engine__http_2_prior_knowledge_fails_with_an_http_1_server.
bool nc_quirk_skips_alpn(bool is_secure);

/// Returns true if libcurl would fail because it cannot write the HTTP/2 preface yet, the first bytes of a connection.
/// NetKit reports a failed write as a success until a transfer watches the connection.
/// Versions: 7.88, applied to all.
/// Test: test_engine_identity, engine__an_alert_about_the_certificate_is_reported_however_the_connection_ends.
bool nc_quirk_fails_blocked_preface(bool is_watched);

/// Returns true if libcurl sends no trailers of a request, and reports success without them: over HTTP/2 and HTTP/3.
/// NetKit uses HTTP/1.1.
/// Versions: 7.88 to 8.21, applied to all.
/// Test: Interop/test_nginx, nginx__a_request_with_trailers_uses_http_1_1.
bool nc_quirk_drops_trailers(nc_http_version version);

/// Returns true if a handle that has sent trailers may not send its request again: libcurl would send it without them,
/// and write before the start of its buffer. NetKit begins the hop again with another handle.
/// Versions: 7.88 to 8.6.
/// Test: test_engine_request_trailers, request_trailers__are_sent_again_after_a_stale_nonce.
bool nc_quirk_sends_trailers_once(unsigned libcurl_version);

/// Returns true if libcurl appends the trailers of a response over HTTP/3 to its body, and stops only at a
/// Content-Length: with OpenSSL's QUIC. NetKit then uses HTTP/3 only if a request requires it, and refuses a response
/// that announces trailers without a length.
/// Versions: 8.14, applied to all. Test: Interop/test_http3_servers, caddy__announces_http_3_and_serves_it.
bool nc_quirk_appends_trailers(void);

/* --- heads and authentication --- */

/// Returns true if head lines must also go to the body callback. Otherwise a head that begins with a folded line
/// corrupts the heap (curl issue 11101). NetKit refuses such a head there.
/// Versions: 7.88 to 8.0.
/// Test: test_engine_responses, engine__a_head_that_starts_with_a_fold_does_not_change_an_earlier_head_regression_2.
bool nc_quirk_needs_head_in_body_callback(unsigned libcurl_version);

/// Returns true if the connection ended within a line. libcurl delivers the beginning of the line, and a lone CR looks
/// like the end of the head. NetKit treats the line as missing.
/// Versions: 8.18 and later, applied to all.
/// Test: test_threat_truncation, truncation__over_tls_a_body_without_a_length_needs_close_notify.
bool nc_quirk_is_cut_off_line(nc_slice line);

/// Returns true if libcurl would change the escapes in the path of `url`: "/a%7eb" to "/a%7Eb". CURLOPT_PATH_AS_IS does
/// not prevent it. NetKit sets the request target itself.
/// Versions: 8.20 and later. Test: test_engine_escapes, escapes__preserve_their_case.
bool nc_quirk_rewrites_escapes(unsigned libcurl_version, nc_slice url);
/// Writes the hex digits of a path that libcurl has read from `url` as the URL has them. Returns false, and leaves the
/// path, if the two differ in more than the case of letters.
bool nc_quirk_restore_escapes(char *path, nc_slice url, bool keeps_dots);
/// Sets the request target of a connected handle, with the escapes as `url` has them (NUL-terminated). It stays set.
/// - is_for_proxy: the target is the whole URL if a proxy is in use (RFC 9112, 3.2.2).
CURLcode nc_quirk_set_target(CURL *easy, nc_slice url, bool keeps_dots, bool is_for_proxy);

/// Returns true if libcurl misreads the Digest challenge: it reads only the first line of a folded field, and rejects
/// unusual forms (nc_digest_is_plain()). NetKit answers such challenges itself.
/// Versions: all. Test: test_engine_digest, digest__odd_but_valid_challenges_of_a_server_are_answered.
bool nc_quirk_misreads_digest(nc_slice value, bool is_folded);

/// Returns true if libcurl percent-encodes user names beyond ASCII in a Digest response. NetKit answers such challenges
/// itself.
/// Versions: 8.21 and later. Test: test_engine_digest, digest__credentials_in_the_url_override_the_requests.
bool nc_quirk_encodes_digest_names(unsigned libcurl_version);

/// The longest line of a netrc file that libcurl reads, without its newline. libcurl ignores a longer line of a netrc
/// file, and sends no credentials. NetKit reports NC_ERR_FILE.
/// Versions: 7.88, applied to all.
/// Test: test_engine_tunnels, engine__a_netrc_line_that_libcurl_would_ignore_is_a_file_error.
enum { NC_QUIRK_MAX_NETRC_LINE_BYTES = 4094 };

/* --- codes --- */

/// CURLE_TOO_LARGE, which older headers of libcurl do not declare. NetKit declares it itself.
/// Versions: 7.88 to 8.5, applied to all. Test: test_curl_error, curl_error__every_code_of_this_libcurl_has_a_status.
enum { NC_QUIRK_CURLE_TOO_LARGE = 100 };

/// Returns the status of CURLE_OUT_OF_MEMORY. libcurl also reports CURLE_OUT_OF_MEMORY for a head line over 100 KiB,
/// and, with DNS over HTTPS, for a name without an address. NetKit derives from the state of the transfer which of them
/// is possible.
/// Versions: 7.88 to 8.5, applied to all.
/// Test: test_curl_error, curl_error__a_too_large_head_is_not_reported_as_out_of_memory.
nc_status nc_quirk_memory_status(bool is_in_head, bool is_alias);

/// Returns true if libcurl reports a malformed trailer, or a malformed line of a proxy, as CURLE_BAD_FUNCTION_ARGUMENT.
/// The engine's own arguments are valid. NetKit reports a bad response.
/// Versions: 7.88, applied to all.
/// Test: test_engine_tunnel_heads, tunnel__a_line_that_is_no_field_ends_the_request.
bool nc_quirk_is_malformed_line(CURLcode code);

/// Returns the code of a hop whose TLS connection ended without close_notify. If a TLS connection ends without
/// close_notify, libcurl 8 reports some errors where 7.88 reports a success. NetKit sees the end itself (tls_wire.h),
/// uses the codes of 7.88, and checks close_notify.
/// Versions: 8.0 and later, applied to all.
/// Test: test_engine_tls, engine__a_body_that_ends_without_close_notify_is_truncated_regression_1.
CURLcode nc_quirk_end_without_close_notify(bool has_head, bool is_in_head, bool is_close_delimited, CURLcode code);

/// Returns true if the code may mean that an HTTP/2 connection has ended. libcurl then resends the request only in
/// 7.88, and only if an idle connection was reset. NetKit resends idempotent requests.
/// Versions: all.
/// Test: test_engine_reused_connections_http2, reused_http2__safe_requests_are_resent_when_the_connection_ends.
bool nc_quirk_may_be_connection_end(CURLcode code);

/// Returns true if the last piece of a request body may have ended the stream: libcurl then reports a failure to send,
/// although the response is complete. NetKit accepts the response.
/// Versions: 8.14, applied to all.
/// Test: test_engine_streams, engine_streams__a_response_before_the_end_of_the_upload_is_complete.
bool nc_quirk_may_be_end_of_upload(CURLcode code);

/* --- measurements --- */

/// Returns CURLINFO_USED_PROXY, or -1 if there is none. Before 8.7 libcurl has no CURLINFO_USED_PROXY. Since 8.20 it
/// reports a refused CONNECT as CURLE_COULDNT_CONNECT. NetKit also reads the status of the tunnel's head itself.
/// Versions: 7.88 to 8.6. Test: test_engine_proxy, engine__an_unreachable_proxy_is_named.
long nc_quirk_used_proxy(CURL *easy, unsigned libcurl_version);

/// Returns true if CURLINFO_REQUEST_SIZE does not include the body. NetKit adds it.
/// Versions: 7.88 to 8.6. Test: test_engine_responses, engine__metrics_match_the_servers_view.
bool nc_quirk_omits_body_from_request_size(unsigned libcurl_version);

/// Returns true if libcurl has not reported the time of the TCP connection. It reports the time only when TLS, or the
/// tunnel through a proxy, is ready too. NetKit measures the time itself, and gets the address from the system.
/// Versions: 7.88, applied to all. Test: test_engine_tls, engine__a_failed_handshake_reports_the_tcp_address_and_time.
bool nc_quirk_hides_tcp_time(uint64_t reported);

/// Returns true if CURLINFO_CONNECT_TIME_T may be a few microseconds later than CURLINFO_APPCONNECT_TIME_T: both end
/// with the handshake of QUIC. NetKit reports the earlier of the two.
/// Versions: 8.14, applied to all. Test: Interop/test_http3_exchange, http3__metrics_are_in_order.
bool nc_quirk_misorders_quic_times(bool is_quic);

/* --- texts --- */

/// Returns true if the text is about a response to CONNECT whose status libcurl cannot read. NetKit reads the text to
/// choose a message. libcurl has no code for this: it uses that of a failure to receive.
/// Versions: 7.88, applied to all. Test: test_engine_tunnel_heads.
bool nc_quirk_text_is_unread_tunnel(const char *text);

/// Returns true if the text is about the certificate's name. libcurl compares the name before it reads the result of
/// the chain, so that result is not set. NetKit reads the text, because both failures have the code
/// CURLE_PEER_FAILED_VERIFICATION.
/// Versions: all. Test: test_engine_tunnels, engine__a_proxys_bad_certificate_is_explained.
bool nc_quirk_text_is_about_name(const char *text);

/// Returns true if the text comes from nghttp2. libcurl reports malformed HTTP/2 with the code of a failure to receive.
/// NetKit reads the text, because there is no other code, and no frames can be read in cleartext HTTP/2.
/// Versions: 7.88, applied to all. Test: test_curl_error, curl_error__an_nghttp2_failure_is_http2_or_a_too_large_head.
bool nc_quirk_text_is_nghttp2s(const char *text);

/// Returns true if the text reports a head that is too large. nghttp2 accepts at most eight frames of one head (-905),
/// libcurl accepts what fits its buffer (-902, a failed callback). NetKit reads the text, because nothing else contains
/// the number of nghttp2.
/// Versions: all. Test: test_engine_frames, frames__a_head_in_more_than_eight_frames_is_too_large.
bool nc_quirk_text_is_large_head(const char *text, bool is_in_head);

/// Returns true if a refused stream (RFC 9113, 8.7) is likely: libcurl gave up after five resends, or has no text for a
/// failed stream. NetKit reads the text only if the frames are unknown. There is no code, and nothing else to observe.
/// Versions: 7.88 to 8.18, applied to all.
/// Test: test_engine_goaway, goaway__a_refused_stream_is_resent_with_or_without_goaway.
bool nc_quirk_text_is_refusal(const char *text, bool is_stream);

/// Returns true if libcurl gives no reason why a stream ended. The server may have reset it without an error, and
/// libcurl loses what arrived with the reset. NetKit reads the text only if the frames are unknown. There is no code,
/// and nothing else to observe.
/// Versions: 7.88, applied to all.
/// Test: test_engine_streams, engine_streams__a_stream_without_a_response_is_retried_if_allowed.
bool nc_quirk_text_is_missing(const char *text);

/// Returns true if the text reports that a stream was reset with an error code. NetKit reads the text only if the
/// frames are unknown, because a reset without an error has the same code, CURLE_HTTP2_STREAM.
/// Versions: 7.88, applied to all.
/// Test: test_engine_streams, engine_streams__a_response_counts_although_the_upload_is_rejected.
bool nc_quirk_text_is_reset_with_error(const char *text);

/// Returns true if the text is about malformed chunks. NetKit reads the text for the body of a challenge, which libcurl
/// drops without a callback. The code is only CURLE_RECV_ERROR.
/// Versions: all. Test: test_engine_challenge_bodies, challenge_body__in_malformed_chunks_is_a_bad_response.
bool nc_quirk_text_is_about_chunks(const char *text);

/// Returns true if the text names the proxy, `host:port`, as the host that libcurl could not connect to. NetKit reads
/// the text only if nc_quirk_used_proxy() returns -1 and the request excludes some hosts from its proxy. There is no
/// code.
/// Versions: 7.88 to 8.6, applied to all. Test: test_engine_proxy, engine__an_unreachable_proxy_is_named.
bool nc_quirk_text_names_proxy(const char *text, nc_slice proxy);

/// Returns true if the text quotes the URL of a proxy that libcurl cannot parse, including its password. NetKit does
/// not show such a text.
/// Versions: all. Test: test_curl_error, curl_error__a_proxys_url_is_not_quoted.
bool nc_quirk_text_quotes_proxy(const char *text);

/// Returns true if a text for CURLOPT_DEBUGFUNCTION reports bytes after the end of a response. libcurl drops them, and
/// may keep the connection (RFC 9112, 6.3). NetKit closes the connection. It reads the text, because there is no code,
/// and no callback gets the bytes.
/// Versions: 7.88, applied to all.
/// Test: test_engine_unsolicited_bytes, unsolicited_bytes__in_one_read_with_a_response_close_the_connection.
bool nc_quirk_text_is_excess(nc_slice text);

#endif
