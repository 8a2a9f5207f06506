/// Authorization responses that the engine computes, if libcurl would misread the challenge or not resend the request.
/// libcurl handles all other challenges.
#ifndef NETCORE_PRIVATE_AUTH_RESPONSE_H
#define NETCORE_PRIVATE_AUTH_RESPONSE_H

#include "request/engine_config.h"
#include "state/transfer_record.h"

/// Maximum number of challenges. No scheme needs as many, and no server or proxy sends as many stale nonces in a row.
enum { NC_MAX_CHALLENGES = 10 };

/// The cases in which the engine responds instead of libcurl.
typedef enum nc_auth_reason {
    NC_AUTH_REASON_MISREAD, // libcurl misreads the challenge
    NC_AUTH_REASON_LOST // libcurl's response is not sent, or is lost: the connection or the handle is not used again
} nc_auth_reason;

nc_auth_responses nc_auth_responses_init(void);
void nc_auth_responses_deinit(nc_auth_responses *responses);
/// Clears the authorization responses before another hop.
void nc_auth_responses_reset(nc_auth_responses *responses);
/// Returns the NC_PARTY_ bits of the parties that the engine responds to, so that libcurl must not.
uint8_t nc_auth_own_parties(const nc_transfer *transfer);

/// Returns true if libcurl or the engine may respond to a challenge of this hop.
bool nc_auth_can_respond(const nc_transfer *transfer);
/// Returns the NC_PARTY_ bits of the parties whose challenge libcurl would await before it sends the hop's body.
uint8_t nc_auth_awaited_parties(const nc_transfer *transfer);

/// Responds to the challenge of a complete head, if that is the engine's task. The hop then begins again
/// (`NC_HOP_RETRIES`). Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_auth_response_head(nc_transfer *transfer, uint8_t party, nc_auth_reason reason);
/// Sets the proxy's authorization field, and disables libcurl's own responses to the parties that the engine responds
/// to. Must be called after the request's other options are set.
CURLcode nc_auth_response_set(CURL *easy, nc_transfer *transfer);
/// Prepends the authorization field for the host to the linked fields.
struct curl_slist *nc_auth_response_link(nc_transfer *transfer, struct curl_slist *fields);

/* --- auth_options.c: libcurl options for credentials, proxies, sockets and netrc --- */

/// Sets the options that all requests of an engine share.
CURLcode nc_auth_options_set_engine(CURL *easy, const nc_engine_config *state);
/// Sets the options of one request. `is_cross_origin`: a redirect has changed the origin.
CURLcode nc_auth_options_set_request(CURL *easy, const nc_engine_config *state, const nc_copied_options *options,
                                     bool is_cross_origin);
/// Returns a key for the credentials and fields that a request sends to its proxy; 0 if it sends none. Requests with
/// different keys do not share connections, because libcurl may reuse a tunnel that was opened with other credentials.
uint64_t nc_auth_options_proxy_key(const nc_engine_config *state, const nc_copied_options *options);
/// Returns a key for requests whose authentication leaves state on a connection; 0 without multi-round schemes.
///
/// Negotiate binds the user to the connection (RFC 4559, 6). libcurl reuses such a connection for any user,
/// although not with NTLM. For every scheme libcurl also stores on the connection that a body waits for a challenge. A
/// later request without credentials would then be sent without its body.
uint64_t nc_auth_options_user_key(const nc_engine_config *state, const nc_copied_options *options);
/// Returns true if libcurl reads the netrc file for a request, because the request has no user.
bool nc_auth_options_reads_netrc(const nc_engine_config *state, const nc_copied_options *options);
/// Returns true if these NC_AUTH_ schemes need more than one request.
bool nc_auth_options_has_rounds(uint32_t schemes);
/// Returns true if libcurl sends a first request without the body under these schemes, because it expects a challenge.
bool nc_auth_options_wait_for_challenge(uint32_t schemes);
/// Returns a value of CURLOPT_HTTPAUTH or CURLOPT_PROXYAUTH for which libcurl sends the body in the first request and
/// still responds to a challenge.
long nc_auth_options_send_body_first(uint32_t schemes);

#endif
