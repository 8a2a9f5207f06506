#include "net/quirks.h"

#include <stdint.h>
#include <string.h>

/// A certificate that no chain can be built on: it is not an authority, has expired, and its key was destroyed.
static const char unusable_certificate[] = "-----BEGIN CERTIFICATE-----\n"
                                           "MIIBdTCCARugAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxubyBhdXRo\n"
                                           "b3JpdHkwHhcNMjYxMTI4MTY1MjM3WhcNMjYxMTI5MTY1MjM3WjAXMRUwEwYDVQQD\n"
                                           "DAxubyBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQWPFZ70Eqz\n"
                                           "8lirRsf46xrIrca1iSiQdQXOk57p5z3j+1I1q46Tcn8clefdU024MfZVKq7B0G+r\n"
                                           "VRU2VltAGN8jo1gwVjAMBgNVHRMBAf8EAjAAMBcGA1UdJQEB/wQNMAsGCSsGAQQB\n"
                                           "g7IDATAOBgNVHQ8BAf8EBAMCBkAwHQYDVR0OBBYEFGFml15A2CJi/C8RQdiKzdlT\n"
                                           "HMGrMAoGCCqGSM49BAMCA0gAMEUCIQDm4uqYi8nHfLVQhxRPnSLC7zUWU3xxhwTo\n"
                                           "iDwv85Z68QIgC2Sin0CnvTR+FzFhapR0/vjLz5j+PZVjH07aBQgmaBE=\n"
                                           "-----END CERTIFICATE-----\n";

CURLcode nc_quirk_set_no_ca_bundle(CURL *easy, unsigned libcurl_version) {
    struct curl_blob blob = {(void *)(uintptr_t)unusable_certificate, strlen(unusable_certificate), CURL_BLOB_NOCOPY};
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    code = code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL) : code;
    if (libcurl_version < 0x081100) {
        code = code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CAINFO, NULL) : code;
        return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL) : code;
    }
    code = code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob) : code;
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &blob) : code;
}
