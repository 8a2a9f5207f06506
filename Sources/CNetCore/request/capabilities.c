#include "body/coding.h"
#include "text/host.h"

#include <netcore/engine_options.h>

#include <curl/curl.h>
#include <string.h>

static bool has_openssl_backend(const curl_version_info_data *info) {
    // A libcurl with several TLS libraries lists all of them, and the inactive ones in parentheses.
    static const char *const family[] = {"OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"};
    for (size_t i = 0; info->ssl_version != NULL && i < sizeof family / sizeof *family; i++) {
        const char *found = strstr(info->ssl_version, family[i]);
        if (found != NULL && (found == info->ssl_version || found[-1] != '(')) {
            return true;
        }
    }
    return false;
}

nc_capabilities nc_capabilities_query(void) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    nc_capabilities out = {
        .curl_version = info->version,
        .tls_backend = info->ssl_version != NULL ? info->ssl_version : "",
        .has_trust_policies = (info->features & CURL_VERSION_SSL) != 0 && has_openssl_backend(info),
        .has_http2 = (info->features & CURL_VERSION_HTTP2) != 0,
        .has_http3 = (info->features & CURL_VERSION_HTTP3) != 0,
        .has_gzip = true,
        .has_brotli = nc_coding_has_brotli(),
        .has_zstd = nc_coding_has_zstd(),
        .has_ntlm = (info->features & CURL_VERSION_NTLM) != 0,
        .has_negotiate = (info->features & CURL_VERSION_SPNEGO) != 0,
        .has_public_suffix_list = nc_is_public_suffix(nc_slice_of("co.uk")),
        .has_https_proxy = (info->features & CURL_VERSION_HTTPS_PROXY) != 0,
    };
    for (const char *const *name = info->protocols; *name != NULL; name++) {
        if (strcmp(*name, "ws") == 0) {
            out.has_websocket = true;
        }
    }
    return out;
}
