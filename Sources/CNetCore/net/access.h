/// libcurl options for credentials, proxies, sockets and netrc.
#ifndef NETCORE_PRIVATE_ACCESS_H
#define NETCORE_PRIVATE_ACCESS_H

#include "net/state.h"

/// Sets the options that all requests of an engine share.
CURLcode nc_access_set_engine(CURL *easy, const nc_state *state);
/// Sets the options of one request. `is_elsewhere`: a redirect has changed the origin.
CURLcode nc_access_set_request(CURL *easy, const nc_state *state, const nc_extras *extras, bool is_elsewhere);
/// Returns a key for what a request sends to its proxy: credentials and fields; 0 for nothing. Requests with different
/// keys do not share connections, because libcurl 8.x reuses a tunnel that was opened with other credentials.
uint64_t nc_access_proxy_key(const nc_state *state, const nc_extras *extras);
/// Returns a key for requests whose authentication leaves state on a connection; 0 without multi-round schemes.
///
/// Negotiate binds the user to the connection (RFC 4559, 6). libcurl 7.88 reuses such a connection for any user,
/// although not with NTLM. For every scheme libcurl also stores on the connection that a body waits for a challenge. A
/// later request without credentials would then be sent without its body.
uint64_t nc_access_user_key(const nc_state *state, const nc_extras *extras);
/// Returns true if libcurl reads the netrc file for a request, because the request has no user.
bool nc_access_reads_netrc(const nc_state *state, const nc_extras *extras);
/// Returns true if these NC_AUTH_ schemes need more than one request.
bool nc_access_has_rounds(uint32_t schemes);
/// Returns true if libcurl sends a first request without the body under these schemes, because it expects a challenge.
bool nc_access_asks_first(uint32_t schemes);
/// Returns a value of CURLOPT_HTTPAUTH or CURLOPT_PROXYAUTH for which libcurl sends the body in the first request and
/// still responds to a challenge.
long nc_access_at_once(uint32_t schemes);

#endif
