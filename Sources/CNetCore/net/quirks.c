#include "net/quirks.h"

#include "base/ascii.h"
#include "net/url_text.h"

#include <netcore/url.h>
#include <stdint.h>
#include <string.h>

/// A certificate that no chain can end in: it is not an authority, has expired, and its key was destroyed.
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

long nc_quirk_used_proxy(CURL *easy, unsigned libcurl_version) {
    // The headers before 8.7 do not declare it.
    enum { INFO_USED_PROXY = CURLINFO_LONG + 66 };
    long used_proxy = -1;
    if (libcurl_version >= 0x080700) {
        (void)curl_easy_getinfo(easy, (CURLINFO)INFO_USED_PROXY, &used_proxy);
    }
    return used_proxy;
}

/* --- escapes in a path --- */

enum { REWRITES_ESCAPES = 0x081400 };

/// Returns the URL from its path on.
static nc_slice behind_authority(nc_slice url) {
    nc_slice authority = nc_url_authority(url);
    const uint8_t *end = authority.data != NULL ? authority.data + authority.length : url.data + url.length;
    return nc_slice_make(end, (size_t)(url.data + url.length - end));
}

/// Returns the number of bytes before the fragment, or before the query if that comes first and `and_query` is set.
static size_t length_before_fragment(nc_slice text, bool and_query) {
    size_t at = 0;
    while (at < text.length && text.data[at] != '#' && !(and_query && text.data[at] == '?')) {
        at++;
    }
    return at;
}

static bool is_hex(uint8_t c) {
    return nc_ascii_is_digit(c) || (nc_ascii_lower(c) >= 'a' && nc_ascii_lower(c) <= 'f');
}

bool nc_quirk_rewrites_escapes(unsigned libcurl_version, nc_slice url) {
    if (libcurl_version < REWRITES_ESCAPES) {
        return false;
    }
    nc_slice rest = behind_authority(url);
    size_t end = length_before_fragment(rest, true);
    for (size_t i = 0; i + 2 < end; i++) {
        bool is_escape = rest.data[i] == '%' && is_hex(rest.data[i + 1]) && is_hex(rest.data[i + 2]);
        if (is_escape && (rest.data[i + 1] >= 'a' || rest.data[i + 2] >= 'a')) {
            return true;
        }
    }
    return false;
}

bool nc_quirk_restore_escapes(char *path, nc_slice url, bool keeps_dots) {
    nc_buf own = nc_buf_init(NC_URL_MAX_BYTES);
    nc_status status = keeps_dots ? NC_OK : nc_url_resolve(&own, url, url, NULL);
    nc_slice rest = behind_authority(keeps_dots ? url : nc_buf_slice(&own));
    rest.length = length_before_fragment(rest, true);
    bool is_same = status == NC_OK && nc_slice_is_equal_ignoring_case(rest, nc_slice_of(path));
    if (is_same) {
        memcpy(path, rest.data, rest.length);
    }
    nc_buf_deinit(&own);
    return is_same;
}

/// Returns the path that libcurl would send, with the URL's spelling of escapes; NULL if libcurl must send its own.
static char *path_of(nc_slice url, bool keeps_dots) {
    CURLU *parts = curl_url();
    char *path = NULL;
    unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | (keeps_dots ? CURLU_PATH_AS_IS : 0u);
    bool is_read = parts != NULL && curl_url_set(parts, CURLUPART_URL, (const char *)url.data, flags) == CURLUE_OK &&
                   curl_url_get(parts, CURLUPART_PATH, &path, CURLU_URLENCODE) == CURLUE_OK;
    curl_url_cleanup(parts);
    if (is_read && nc_quirk_restore_escapes(path, url, keeps_dots)) {
        return path;
    }
    curl_free(path);
    return NULL;
}

CURLcode nc_quirk_set_target(CURL *easy, nc_slice url, bool keeps_dots, bool is_for_proxy) {
    nc_slice authority = nc_url_authority(url);
    nc_slice rest = behind_authority(url);
    size_t query = length_before_fragment(rest, true);
    nc_slice tail = nc_slice_make(rest.data + query, length_before_fragment(rest, false) - query);
    char *path = path_of(url, keeps_dots);
    if (path == NULL) {
        return CURLE_OK;
    }
    nc_buf target = nc_buf_init(2 * NC_URL_MAX_BYTES);
    if (is_for_proxy && nc_quirk_used_proxy(easy, REWRITES_ESCAPES) != 0) {
        nc_buf_append(&target, nc_slice_of("http://"));
        nc_buf_append(&target, authority);
    }
    nc_buf_append(&target, nc_slice_of(path));
    nc_buf_append(&target, tail);
    nc_buf_append_byte(&target, 0);
    bool is_whole = nc_buf_status(&target) == NC_OK;
    CURLcode code =
        is_whole ? curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, (const char *)target.data) : CURLE_OUT_OF_MEMORY;
    nc_buf_deinit(&target);
    curl_free(path);
    return code;
}
