#include "curl/quirks.h"

#include "base/ascii.h"
#include "http/digest_auth.h"
#include "http/url_text.h"

#include <errno.h>
#include <netcore/url.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

unsigned nc_quirk_libcurl_version(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num;
}

bool nc_quirk_is_too_old(unsigned libcurl_version) {
    return libcurl_version < 0x075800;
}

/* --- connections --- */

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

bool nc_quirk_uses_leftover_bytes(bool is_multiplexed) {
    return !is_multiplexed;
}

bool nc_quirk_keeps_unread_body_connection(nc_http_version version, bool expects_continue, bool is_sending) {
    return version < NC_HTTP_VERSION_2 && expects_continue && is_sending;
}

bool nc_quirk_forbids_handle_reuse(unsigned attempts) {
    return attempts != 1;
}

bool nc_quirk_forgets_waiting_transfers(unsigned libcurl_version) {
    return libcurl_version >= 0x080000;
}

bool nc_quirk_mixes_requests(bool may_use_http2, bool may_be_multiplexed) {
    return may_use_http2 && !may_be_multiplexed;
}

bool nc_quirk_resends_after_error(nc_status recorded) {
    return recorded != NC_OK;
}

bool nc_quirk_reads_before_it_polls(nc_http_version version) {
    return version < NC_HTTP_VERSION_2;
}

nc_status nc_quirk_multi_init_error(int error) {
    return error == EMFILE || error == ENFILE ? NC_ERR_DESCRIPTORS : NC_ERR_NO_MEMORY;
}

bool nc_quirk_keeps_dead_quic_connection(bool is_quic, CURLcode code) {
    return is_quic && (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR);
}

/* --- addresses --- */

/// libcurl runs a transfer immediately when it is unpaused. Without a connection that has no other effect.
void nc_quirk_open_next_address(CURL *easy, int pause_mask) {
    (void)curl_easy_pause(easy, CURLPAUSE_ALL);
    (void)curl_easy_pause(easy, pause_mask);
}

void nc_quirk_end_cancelled_query(curl_socket_t fd) {
    (void)shutdown(fd, SHUT_RDWR);
}

bool nc_quirk_keeps_expired_addresses(int64_t ahead_s, int64_t most_s) {
    enum { ADDRESS_S = 60 }; // libcurl's cache
    return ahead_s < most_s - ADDRESS_S;
}

bool nc_quirk_is_unwanted_family(nc_address_family wanted, int family) {
    return (wanted == NC_FAMILY_IPV6 && family == AF_INET) || (wanted == NC_FAMILY_IPV4 && family == AF_INET6);
}

/* --- HTTP/2 --- */

bool nc_quirk_leaves_stream_bytes_unread(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

bool nc_quirk_loses_early_responses(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

bool nc_quirk_stalls_other_streams(bool may_pause, bool has_receive_rate) {
    return may_pause || has_receive_rate;
}

bool nc_quirk_leaves_bodiless_stream_open(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

bool nc_quirk_breaks_second_cleartext_request(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

bool nc_quirk_hides_stream_end(nc_http_version version) {
    return version == NC_HTTP_VERSION_2;
}

bool nc_quirk_resets_streams_read_to_their_end(nc_http_version version, bool is_sending) {
    return version < NC_HTTP_VERSION_2 || !is_sending;
}

bool nc_quirk_skips_alpn(bool is_secure) {
    return is_secure;
}

bool nc_quirk_fails_blocked_preface(bool is_watched) {
    return !is_watched;
}

bool nc_quirk_drops_trailers(nc_http_version version) {
    return version >= NC_HTTP_VERSION_2;
}

bool nc_quirk_sends_trailers_once(unsigned libcurl_version) {
    return libcurl_version < 0x080700;
}

bool nc_quirk_appends_trailers(void) {
    const char *quic = curl_version_info(CURLVERSION_NOW)->quic_version;
    return quic != NULL && strstr(quic, "ngtcp2") == NULL;
}

/* --- heads and authentication --- */

bool nc_quirk_needs_head_in_body_callback(unsigned libcurl_version) {
    return libcurl_version < 0x080100;
}

bool nc_quirk_is_cut_off_line(nc_slice line) {
    return line.length == 0 || line.data[line.length - 1] != '\n';
}

bool nc_quirk_misreads_digest(nc_slice value, bool is_folded) {
    return is_folded || !nc_digest_is_plain(value);
}

bool nc_quirk_encodes_digest_names(unsigned libcurl_version) {
    return libcurl_version >= 0x081500;
}

/* --- escapes in a path --- */

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
    if (libcurl_version < 0x081400) {
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
    if (is_for_proxy && nc_quirk_used_proxy(easy, nc_quirk_libcurl_version()) != 0) {
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

/* --- codes --- */

nc_status nc_quirk_memory_status(bool is_in_head, bool is_alias) {
    return is_in_head ? NC_ERR_HEAD_TOO_LARGE : is_alias ? NC_ERR_RESOLVE : NC_ERR_NO_MEMORY;
}

bool nc_quirk_is_malformed_line(CURLcode code) {
    return code == CURLE_BAD_FUNCTION_ARGUMENT;
}

CURLcode nc_quirk_end_without_close_notify(bool has_head, bool is_in_head, bool is_close_delimited, CURLcode code) {
    if (!has_head) {
        return is_in_head ? code : CURLE_GOT_NOTHING;
    }
    return is_close_delimited ? CURLE_OK : code;
}

bool nc_quirk_may_be_connection_end(CURLcode code) {
    return code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_HTTP2;
}

bool nc_quirk_may_be_end_of_upload(CURLcode code) {
    return code == CURLE_SEND_ERROR;
}

/* --- measurements --- */

long nc_quirk_used_proxy(CURL *easy, unsigned libcurl_version) {
    enum { INFO_USED_PROXY = CURLINFO_LONG + 66 }; // older headers do not declare it
    if (libcurl_version < 0x080700) {
        return -1;
    }
    long used_proxy = -1;
    (void)curl_easy_getinfo(easy, (CURLINFO)INFO_USED_PROXY, &used_proxy);
    return used_proxy;
}

bool nc_quirk_omits_body_from_request_size(unsigned libcurl_version) {
    return libcurl_version < 0x080700;
}

bool nc_quirk_hides_tcp_time(uint64_t reported) {
    return reported == 0;
}

bool nc_quirk_misorders_quic_times(bool is_quic) {
    return is_quic;
}

/* --- texts --- */

static bool begins_with(const char *text, const char *words) {
    return strncmp(text, words, strlen(words)) == 0;
}

bool nc_quirk_text_is_unread_tunnel(const char *text) {
    return strstr(text, ", response 0") != NULL;
}

bool nc_quirk_text_is_about_name(const char *text) {
    return strstr(text, "subject name") != NULL;
}

bool nc_quirk_text_is_nghttp2s(const char *text) {
    return strstr(text, "nghttp2") != NULL;
}

bool nc_quirk_text_is_large_head(const char *text, bool is_in_head) {
    const char *reason = strstr(text, "nghttp2");
    return reason != NULL && (strstr(reason, " -905:") != NULL || (is_in_head && strstr(reason, " -902:") != NULL));
}

bool nc_quirk_text_is_refusal(const char *text, bool is_stream) {
    return begins_with(text, "Connection died, tried ") || (is_stream && text[0] == '\0');
}

bool nc_quirk_text_is_missing(const char *text) {
    return text[0] == '\0';
}

bool nc_quirk_text_is_reset_with_error(const char *text) {
    return strstr(text, "not closed cleanly") != NULL;
}

bool nc_quirk_text_is_about_chunks(const char *text) {
    return strstr(text, "chunk") != NULL;
}

/// The text is "Failed to connect to HOST port PORT after …".
bool nc_quirk_text_names_proxy(const char *text, nc_slice proxy) {
    static const char words[] = "Failed to connect to ";
    nc_slice host = proxy;
    if (!begins_with(text, words) || host.length == 0) {
        return false;
    }
    const char *rest = text + sizeof words - 1;
    size_t end = host.length;
    while (end > 0 && host.data[end - 1] != ':' && host.data[end - 1] != ']') {
        end--;
    }
    nc_slice port = nc_slice_make(host.data + end, host.length - end);
    bool has_port = end > 0 && host.data[end - 1] == ':';
    host.length = has_port ? end - 1 : host.length;
    if (host.length > 1 && host.data[0] == '[' && host.data[host.length - 1] == ']') {
        host = nc_slice_make(host.data + 1, host.length - 2);
    }
    char expected[300];
    (void)snprintf(expected, sizeof expected, "%.*s port %.*s", (int)(host.length < 255 ? host.length : 255),
                   (const char *)host.data, has_port ? (int)port.length : 0, (const char *)port.data);
    return begins_with(rest, expected) && (!has_port || rest[strlen(expected)] == ' ');
}

bool nc_quirk_text_quotes_proxy(const char *text) {
    return begins_with(text, "Unsupported proxy ");
}

bool nc_quirk_text_is_excess(nc_slice text) {
    static const char *const words[] = {"Excess found", "Leftovers after chunking"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (text.length >= length && memcmp(text.data, words[i], length) == 0) {
            return true;
        }
    }
    return false;
}
