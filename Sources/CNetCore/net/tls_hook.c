#include "net/tls_hook.h"

#include "base/trace.h"
#include "net/engine_state.h"

#include <openssl/ssl.h>

/// Security level 2: at least 112 bits (RSA 2048, no SHA-1 signatures).
enum { SECURITY_LEVEL = 2 };

static CURLcode fill_context(CURL *easy, void *context, void *data) {
    SSL_CTX *tls = context;
    const nc_lane *lane = data;
    (void)easy;
    // SSLKEYLOGFILE in the environment must not make libcurl write our session keys to a file.
    SSL_CTX_set_keylog_callback(tls, NULL);
    SSL_CTX_set_security_level(tls, SECURITY_LEVEL);
    if (lane->roots != NULL) {
        // Parsed once a lane; libcurl would read the bundle again for each connection (18 ms).
        SSL_CTX_set1_cert_store(tls, lane->roots);
    }
    nc_trace_pass(&lane->engine->trace, NC_TRACE_TLS_CONFIGURED, 0);
    return CURLE_OK;
}

CURLcode nc_tls_hook_install(CURL *easy, const nc_lane *lane) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, fill_context);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, lane) : code;
}
