/// Options that say who asks, and through whom: credentials, proxies, sockets, and what hosts asked to remember.
#ifndef NETCORE_PRIVATE_ACCESS_H
#define NETCORE_PRIVATE_ACCESS_H

#include "net/state.h"

/// Sets what all requests of an engine have in common.
CURLcode nc_access_set_engine(CURL *easy, const nc_state *state);
/// Sets what one request of an engine asks for. `is_elsewhere`: a redirect has left the origin that the caller named.
CURLcode nc_access_set_request(CURL *easy, const nc_state *state, const nc_extras *extras, bool is_elsewhere);
/// Tells apart what a request says to its proxy for itself; 0 when that is nothing. libcurl 8.x gives a tunnel that one
/// request was let into to another one with other credentials, so these do not share connections.
uint64_t nc_access_proxy_key(const nc_state *state, const nc_extras *extras);
/// Tells apart requests whose rounds of authentication leave something on a connection; 0 for those without rounds.
/// Negotiate leaves who asks (RFC 4559, 6): libcurl 7.88 gives such a connection to whoever asks the host next, as it
/// does not with NTLM. With each scheme it also leaves that a body is not sent before a challenge, and what is sent
/// there without credentials goes without its body.
uint64_t nc_access_user_key(const nc_state *state, const nc_extras *extras);
/// Whether libcurl looks into the netrc file for a request: it names nobody itself.
bool nc_access_reads_netrc(const nc_state *state, const nc_extras *extras);
/// Whether these NC_AUTH_ schemes take more than one request.
bool nc_access_has_rounds(uint32_t schemes);
/// Whether libcurl asks without the body first under these schemes, for it expects a challenge.
bool nc_access_asks_first(uint32_t schemes);
/// As a value of CURLOPT_HTTPAUTH or CURLOPT_PROXYAUTH under which it does not, and still answers a challenge.
long nc_access_at_once(uint32_t schemes);

#endif
