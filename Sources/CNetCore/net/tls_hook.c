#include "net/tls_hook.h"

#include "base/trace.h"
#include "net/engine_state.h"
#include "trust/identity.h"

#include <openssl/ssl.h>
#include <stdio.h>

/// libcurl calls the hook for an HTTPS proxy's context as well and does not say which one it is. So the proxy's
/// options, and they alone, ask for this bit (CURLSSLOPT_ALLOW_BEAST): it means nothing from TLS 1.1 on, and is the
/// mark.
static bool is_proxy_context(const SSL_CTX *context) {
    return (SSL_CTX_get_options(context) & SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS) != 0;
}

static CURLcode fill_context(CURL *easy, void *context, void *data) {
    SSL_CTX *tls = context;
    const nc_lane *lane = data;
    (void)easy;
    // SSLKEYLOGFILE in the environment must not make libcurl write our session keys to a file.
    SSL_CTX_set_keylog_callback(tls, NULL);
    SSL_CTX_set_security_level(tls, NC_TLS_SECURITY_LEVEL);
    if (lane->roots != NULL) {
        // Parsed once a lane; libcurl would read the bundle again for each connection (18 ms).
        SSL_CTX_set1_cert_store(tls, lane->roots);
    }
    if (lane->identity != NULL && !is_proxy_context(tls) && !nc_identity_apply(lane->identity, tls)) {
        return CURLE_SSL_CERTPROBLEM;
    }
    nc_trace_pass(&lane->engine->trace, NC_TRACE_TLS_CONFIGURED, 0);
    return CURLE_OK;
}

CURLcode nc_tls_hook_install(CURL *easy, const nc_lane *lane) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, fill_context);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, lane);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_ALLOW_BEAST);
        // A libcurl without proxies has nothing to mark.
        code = code == CURLE_UNKNOWN_OPTION || code == CURLE_NOT_BUILT_IN ? CURLE_OK : code;
    }
    return code;
}

void nc_tls_describe(CURL *easy, char *version, size_t version_bytes, char *cipher, size_t cipher_bytes) {
    const struct curl_tlssessioninfo *info = NULL;
    const SSL *tls = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info != NULL &&
        info->backend == CURLSSLBACKEND_OPENSSL) {
        tls = info->internals;
    }
    // Before the handshake has chosen a cipher there is neither.
    bool is_live = tls != NULL && SSL_get_current_cipher(tls) != NULL;
    (void)snprintf(version, version_bytes, "%s", is_live ? SSL_get_version(tls) : "");
    (void)snprintf(cipher, cipher_bytes, "%s", is_live ? SSL_get_cipher_name(tls) : "");
}
