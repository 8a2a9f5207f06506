/// What of a request, and of an engine's options, tells a server or a proxy who asks: refused before a byte is sent.
#ifndef NETCORE_NET_ACCESS_CHECK_H
#define NETCORE_NET_ACCESS_CHECK_H

#include <netcore/credentials.h>
#include <netcore/proxy.h>

/// Fields of one request, or of one proxy, at most.
enum { NC_MAX_SENT_HEADERS = 1000 };

/// Whether a text holds no NUL and is short enough.
bool nc_check_is_text(nc_slice text, size_t max_bytes);
/// A name that is a token (RFC 9110, 5.6.2) and a value without CR, LF and NUL.
NC_NODISCARD nc_status nc_check_header(const nc_header *header, nc_error *err);
/// Schemes that are known and there, and texts that fit into them.
NC_NODISCARD nc_status nc_check_credentials(const nc_credentials *credentials, nc_error *err);
/// The same of a name in a URL, which libcurl takes before the one beside it, and whose escapes it undoes.
NC_NODISCARD nc_status nc_check_digest_url(nc_slice url, nc_error *err);
/// A proxy with its URL, its fields and its credentials.
NC_NODISCARD nc_status nc_check_proxy(const nc_proxy *proxy, nc_error *err);

#endif
