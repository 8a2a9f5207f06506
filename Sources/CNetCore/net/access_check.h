/// Checks of credentials, fields and proxies before anything is sent.
#ifndef NETCORE_NET_ACCESS_CHECK_H
#define NETCORE_NET_ACCESS_CHECK_H

#include <netcore/credentials.h>
#include <netcore/proxy.h>

/// Maximum number of fields of one request or one proxy.
enum { NC_MAX_SENT_HEADERS = 1000 };

/// Returns true if a text has no NUL and is short enough.
bool nc_check_is_text(nc_slice text, size_t max_bytes);
/// Checks that a name is a token (RFC 9110, 5.6.2), and that a value has no CR, LF or NUL.
NC_NODISCARD nc_status nc_check_header(const nc_header *header, nc_error *err);
/// Checks that the schemes are known and supported, and that the texts suit them.
NC_NODISCARD nc_status nc_check_credentials(const nc_credentials *credentials, nc_error *err);
/// Checks the user in a URL for Digest. libcurl prefers it to separate credentials, and decodes its escapes.
NC_NODISCARD nc_status nc_check_digest_url(nc_slice url, nc_error *err);
/// Checks a proxy with its URL, fields and credentials.
NC_NODISCARD nc_status nc_check_proxy(const nc_proxy *proxy, nc_error *err);

#endif
