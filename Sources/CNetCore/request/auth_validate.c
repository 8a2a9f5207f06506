#include "request/request_copy.h"

#include "base/ascii.h"
#include "base/error.h"
#include "http/url_text.h"

#include <netcore/engine_options.h>
#include <netcore/url.h>
#include <string.h>

enum { MAX_SECRET_BYTES = 64 * 1024 };

bool nc_check_is_text(nc_slice text, size_t max_bytes) {
    return text.length <= max_bytes && (text.length == 0 || memchr(text.data, 0, text.length) == NULL);
}

nc_status nc_check_header(const nc_header *header, nc_error *err) {
    if (header->name.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, 0, "a header has no name");
    }
    for (size_t i = 0; i < header->name.length; i++) {
        if (!nc_ascii_is_token(header->name.data[i])) {
            return nc_error_set(err, NC_ERR_BAD_HEADER, 0, (int64_t)i,
                                "forbidden byte 0x%02x in a header name at byte %zu", header->name.data[i], i);
        }
    }
    for (size_t i = 0; i < header->value.length; i++) {
        uint8_t byte = header->value.data[i];
        if (byte == '\r' || byte == '\n' || byte == 0) {
            return nc_error_set(
                err, NC_ERR_BAD_HEADER, 0, (int64_t)i, "forbidden byte 0x%02x in the value of header %.*s at byte %zu",
                byte, (int)(header->name.length < 64 ? header->name.length : 64), (const char *)header->name.data, i);
        }
    }
    return NC_OK;
}

/// Checks that libcurl supports NTLM and Negotiate. libcurl is queried only for these schemes, because that takes
/// longer than all other checks.
static nc_status check_known_schemes(uint32_t schemes, nc_error *err) {
    if ((schemes & (NC_AUTH_NTLM | NC_AUTH_NEGOTIATE)) == 0) {
        return NC_OK;
    }
    const nc_capabilities has = nc_capabilities_query();
    bool lacks_ntlm = (schemes & NC_AUTH_NTLM) != 0 && !has.has_ntlm;
    bool lacks_negotiate = (schemes & NC_AUTH_NEGOTIATE) != 0 && !has.has_negotiate;
    if (lacks_ntlm || lacks_negotiate) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "libcurl %s does not support %s", has.curl_version,
                            lacks_ntlm ? "NTLM" : "Negotiate");
    }
    return NC_OK;
}

/// Checks a user name for Digest. libcurl escapes only quotes and backslashes when it writes the name into the field.
static nc_status check_digest_user(nc_slice user, nc_error *err) {
    for (size_t i = 0; i < user.length; i++) {
        if (user.data[i] < ' ' || user.data[i] == 0x7f) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i,
                                "a user name for Digest contains a control character");
        }
    }
    return NC_OK;
}

nc_status nc_check_digest_url(nc_slice url, nc_error *err) {
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(url, &at, &length);
    for (size_t i = at; i + 2 < at + length; i++) {
        uint8_t low = nc_ascii_lower(url.data[i + 2]);
        bool is_control = url.data[i + 1] == '0' || url.data[i + 1] == '1' || (url.data[i + 1] == '7' && low == 'f');
        if (url.data[i] == '%' && is_control) {
            return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)i,
                                "credentials for Digest in the URL contain a control character");
        }
    }
    return NC_OK;
}

nc_status nc_check_credentials(const nc_credentials *credentials, nc_error *err) {
    const uint32_t known = NC_AUTH_BASIC | NC_AUTH_DIGEST | NC_AUTH_BEARER | NC_AUTH_NTLM | NC_AUTH_NEGOTIATE;
    if ((credentials->schemes & ~known) != 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown authentication scheme");
    }
    if (!nc_check_is_text(credentials->user, MAX_SECRET_BYTES) ||
        !nc_check_is_text(credentials->password, MAX_SECRET_BYTES) ||
        !nc_check_is_text(credentials->token, MAX_SECRET_BYTES)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "credentials contain a NUL byte or are longer than %d bytes",
                            MAX_SECRET_BYTES);
    }
    for (size_t i = 0; i < credentials->token.length; i++) {
        if (credentials->token.data[i] <= ' ' || credentials->token.data[i] >= 0x7f) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "the bearer token contains a forbidden byte");
        }
    }
    // RFC 7617, 2: the user name ends at the first colon.
    if ((credentials->schemes & NC_AUTH_BASIC) != 0 && credentials->user.length > 0 &&
        memchr(credentials->user.data, ':', credentials->user.length) != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a user name for Basic contains a colon");
    }
    nc_status status = (credentials->schemes & NC_AUTH_DIGEST) != 0 ? check_digest_user(credentials->user, err) : NC_OK;
    return status == NC_OK ? check_known_schemes(credentials->schemes, err) : status;
}

nc_status nc_check_proxy(const nc_proxy *proxy, nc_error *err) {
    static const char *const schemes[] = {"http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://"};
    bool is_known = proxy->choice != NC_PROXY_URL;
    if ((proxy->header_count > 0 && proxy->headers == NULL) || proxy->header_count > NC_MAX_SENT_HEADERS ||
        (proxy->choice != NC_PROXY_NONE && proxy->choice != NC_PROXY_ENVIRONMENT && proxy->choice != NC_PROXY_URL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "unknown proxy choice, or a count is not 0 but its array is NULL");
    }
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes && !is_known; i++) {
        size_t length = strlen(schemes[i]);
        is_known = proxy->url.length > length &&
                   nc_slice_is_equal_ignoring_case(nc_slice_make(proxy->url.data, length), nc_slice_of(schemes[i]));
    }
    if (!is_known || proxy->url.length > NC_URL_MAX_BYTES || !nc_check_is_text(proxy->except, NC_URL_MAX_BYTES)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "the proxy is not an http, https, socks4, socks4a, socks5 or socks5h URL");
    }
    for (size_t i = 0; i < proxy->url.length; i++) {
        if (proxy->url.data[i] <= ' ' || proxy->url.data[i] == 0x7f) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "forbidden byte 0x%02x in the proxy's URL",
                                proxy->url.data[i]);
        }
    }
    bool is_secure = nc_slice_is_equal_ignoring_case(nc_url_split(proxy->url).scheme, nc_slice_of("https"));
    if (proxy->choice == NC_PROXY_URL && is_secure && !nc_capabilities_query().has_https_proxy) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "this libcurl does not support HTTPS proxies");
    }
    if ((proxy->credentials.schemes & NC_AUTH_BEARER) != 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "bearer tokens are not supported for proxies");
    }
    for (size_t i = 0; i < proxy->header_count; i++) {
        nc_status status = nc_check_header(&proxy->headers[i], err);
        if (status != NC_OK) {
            return status;
        }
    }
    return nc_check_credentials(&proxy->credentials, err);
}
