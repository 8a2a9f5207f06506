#include "net/handle.h"

#include "base/alloc.h"
#include "base/trace.h"
#include "net/access.h"
#include "net/alternatives.h"
#include "net/apart.h"
#include "net/auth_answer.h"
#include "net/engine_state.h"
#include "net/exchange.h"
#include "net/quirks.h"
#include "net/tls_hook.h"
#include "net/url_text.h"
#include "trust/policy.h"

#include <string.h>

/// Idle handles that a pool keeps. One takes about 6 KiB.
enum { MAX_FREE_HANDLES = 256 };

/// libcurl's receive buffer. If a body is collected: libcurl's default, so that the buffers of many transfers stay in
/// the processor's caches. If it is delivered immediately: more, which saves system calls (1 GiB in pieces of 16 KiB
/// takes twice the time). If it is coded: less, because a paused transfer may hold as much and it expands. For streams:
/// more, because libcurl 7.88 misses the end of a stream whose buffer is full after one read (32 KiB; over TLS a record
/// of 16 KiB and the decoded head).
enum {
    RECEIVE_BYTES = 16 * 1024,
    RECORD_RECEIVE_BYTES = 20 * 1024,
    STREAM_RECEIVE_BYTES = 64 * 1024,
    LONG_RECEIVE_BYTES = 512 * 1024,
    SEND_BYTES = 64 * 1024
};

/// Collects the first failure of a series of options.
typedef struct option_row {
    CURL *easy;
    CURLcode code;
} option_row;

#define SET(row, option, value)                                                                                        \
    do {                                                                                                               \
        if ((row)->code == CURLE_OK) {                                                                                 \
            (row)->code = curl_easy_setopt((row)->easy, option, value);                                                \
        }                                                                                                              \
    } while (0)

static nc_status status_of(CURLcode code) {
    if (code == CURLE_OK) {
        return NC_OK;
    }
    return code == CURLE_OUT_OF_MEMORY ? NC_ERR_NO_MEMORY : NC_ERR_UNSUPPORTED;
}

static void set_safety(option_row *row, nc_lane *lane) {
    const nc_trust_options *trust = &lane->trust->options;
    bool verifies = !trust->accepts_anything;
    // The hook compares the name more strictly. libcurl's check covers sessions that are resumed without the hook.
    bool compares = verifies && !trust->skips_name_check && !nc_trust_may_be_overridden(lane->trust);
    long version = trust->min_version == NC_TLS_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;
    version |= trust->max_version == NC_TLS_LIMIT_1_2   ? CURL_SSLVERSION_MAX_TLSv1_2
               : trust->max_version == NC_TLS_LIMIT_1_3 ? CURL_SSLVERSION_MAX_TLSv1_3
                                                        : 0;
    SET(row, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(row, CURLOPT_FOLLOWLOCATION, 0L);
    // Otherwise a cancel during name lookup joins libcurl's resolver thread and stalls every transfer.
    SET(row, CURLOPT_QUICK_EXIT, 1L);
    SET(row, CURLOPT_NOSIGNAL, 1L);
    SET(row, CURLOPT_SSLVERSION, version);
    SET(row, CURLOPT_SSL_VERIFYPEER, verifies ? 1L : 0L);
    SET(row, CURLOPT_SSL_VERIFYHOST, compares ? 2L : 0L);
    SET(row, CURLOPT_SSL_SESSIONID_CACHE, nc_trust_may_resume(lane->trust) ? 1L : 0L);
    SET(row, CURLOPT_SSL_ENABLE_ALPN, trust->skips_alpn ? 0L : 1L);
    SET(row, CURLOPT_PROXY_SSLVERSION, version);
    SET(row, CURLOPT_PROXY_SSL_VERIFYPEER, verifies ? 1L : 0L);
    SET(row, CURLOPT_PROXY_SSL_VERIFYHOST, verifies ? 2L : 0L);
    if (row->code == CURLE_OK) {
        row->code = nc_quirk_set_no_ca_bundle(row->easy, lane->engine->libcurl_version);
    }
    if (row->code == CURLE_OK && lane->engine->capabilities.has_trust_policies) {
        row->code = nc_tls_hook_install(row->easy, lane);
    }
}

static void set_callbacks(option_row *row, nc_handle *handle) {
    SET(row, CURLOPT_PRIVATE, handle);
    SET(row, CURLOPT_ERRORBUFFER, handle->detail);
    SET(row, CURLOPT_HEADERFUNCTION, nc_exchange_on_header);
    SET(row, CURLOPT_HEADERDATA, handle);
    SET(row, CURLOPT_WRITEFUNCTION, nc_exchange_on_body);
    SET(row, CURLOPT_WRITEDATA, handle);
    SET(row, CURLOPT_HEADER, nc_quirk_needs_head_in_body_callback(handle->engine->libcurl_version) ? 1L : 0L);
    // libcurl delivers a chunked body as it was sent, and still finds its end. Its own decoder accepts a bare LF after
    // a chunk, and endless extensions.
    SET(row, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
    SET(row, CURLOPT_READFUNCTION, nc_exchange_on_upload);
    SET(row, CURLOPT_READDATA, handle);
    SET(row, CURLOPT_SEEKFUNCTION, nc_exchange_on_rewind);
    SET(row, CURLOPT_SEEKDATA, handle);
    SET(row, CURLOPT_XFERINFOFUNCTION, nc_exchange_on_progress);
    SET(row, CURLOPT_XFERINFODATA, handle);
    SET(row, CURLOPT_DEBUGFUNCTION, nc_exchange_on_said);
    SET(row, CURLOPT_DEBUGDATA, handle);
    SET(row, CURLOPT_PREREQFUNCTION, nc_exchange_on_connected);
    SET(row, CURLOPT_PREREQDATA, handle);
    SET(row, CURLOPT_OPENSOCKETFUNCTION, nc_exchange_open_socket);
    SET(row, CURLOPT_OPENSOCKETDATA, handle);
    SET(row, CURLOPT_CLOSESOCKETFUNCTION, nc_exchange_close_socket);
    SET(row, CURLOPT_CLOSESOCKETDATA, handle->engine); // connections outlive handles
}

static nc_handle *make(nc_lane *lane) {
    nc_handle *handle = nc_alloc_zeroed(1, sizeof *handle);
    if (handle == NULL) {
        return NULL;
    }
    handle->engine = lane->engine;
    handle->url_text = nc_buf_init(SIZE_MAX); // A request has the same limit.
    handle->is_plain_get = true;
    handle->easy = curl_easy_init();
    handle->url = curl_url();
    if (handle->easy == NULL || handle->url == NULL) {
        nc_handle_free(handle);
        return NULL;
    }
    option_row row = {handle->easy, CURLE_OK};
    set_safety(&row, lane);
    set_callbacks(&row, handle);
    SET(&row, CURLOPT_SHARE, lane->share);
    SET(&row, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(&row, CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BYTES);
    handle->http_version = CURL_HTTP_VERSION_1_1;
    handle->receive_bytes = RECEIVE_BYTES;
    if (row.code == CURLE_OK) {
        row.code = nc_access_set_engine(handle->easy, &lane->engine->state);
    }
    if (row.code != CURLE_OK) {
        nc_handle_free(handle);
        return NULL;
    }
    return handle;
}

void nc_handle_free(nc_handle *handle) {
    curl_easy_cleanup(handle->easy);
    nc_tls_release_end(handle->proxy_end);
    nc_tls_release_end(handle->origin_end);
    curl_url_cleanup(handle->url);
    nc_buf_deinit(&handle->url_text);
    nc_free(handle);
}

nc_handle *nc_handle_of(CURL *easy) {
    nc_handle *handle = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&handle) == CURLE_OK ? handle : NULL;
}

void nc_handle_give(nc_lane *lane, nc_handle *handle) {
    handle->transfer = NULL;
    nc_tls_release_end(handle->proxy_end); // of a connection without TLS
    nc_tls_release_end(handle->origin_end);
    handle->proxy_end = NULL;
    handle->origin_end = NULL;
    if (lane->free_handle_count >= MAX_FREE_HANDLES) {
        nc_handle_free(handle);
        return;
    }
    handle->next = lane->free_handles;
    lane->free_handles = handle;
    lane->free_handle_count++;
}

/// Idle handles do not keep longer ones.
enum { MAX_KEPT_URL_BYTES = 4096 };

/// Splits the URL as libcurl would. Returns false if libcurl must do that: for an invalid URL, because its error is
/// precise; for an IPv6 address with a zone, which the parts lose; and for a host with a lone '%', which would be
/// written differently.
static bool take_apart(CURLU *parts, nc_slice url, bool keeps_dots) {
    nc_slice place = nc_url_authority(url);
    unsigned int flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | (keeps_dots ? CURLU_PATH_AS_IS : 0u);
    return url.length <= MAX_KEPT_URL_BYTES && memchr(place.data, '%', place.length) == NULL &&
           curl_url_set(parts, CURLUPART_URL, (const char *)url.data, flags) == CURLUE_OK;
}

/// libcurl parses and rewrites each request's URL, which takes a quarter of its time for a small request. If it gets
/// the parts, it copies them. The next request of a handle often has the same URL.
static void set_url(option_row *row, nc_handle *handle, const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    bool keeps_dots = extras != NULL && extras->keeps_dot_segments;
    nc_slice url = nc_transfer_url(transfer);
    if (!keeps_dots && handle->url_text.length > 0 && nc_slice_is_equal(nc_buf_slice(&handle->url_text), url)) {
        return;
    }
    nc_buf_reset(&handle->url_text);
    bool is_apart = take_apart(handle->url, url, keeps_dots);
    SET(row, CURLOPT_CURLU, is_apart ? handle->url : NULL);
    SET(row, CURLOPT_URL, (const char *)url.data);
    if (is_apart && row->code == CURLE_OK) {
        nc_buf_append(&handle->url_text, url);
        if (nc_buf_status(&handle->url_text) != NC_OK) {
            nc_buf_reset(&handle->url_text);
        }
    }
}

/// Sets method and body. HTTPGET resets UPLOAD and NOBODY.
static void set_method(option_row *row, nc_handle *handle, const nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    bool is_plain_get = transfer->is_get || (asked->method == NULL && !asked->has_body);
    if (is_plain_get && handle->is_plain_get) {
        return;
    }
    SET(row, CURLOPT_HTTPGET, 1L);
    if (is_plain_get) {
        SET(row, CURLOPT_CUSTOMREQUEST, NULL);
    } else if (asked->has_body) {
        SET(row, CURLOPT_UPLOAD, 1L);
        uint64_t length = transfer->upload.length;
        SET(row, CURLOPT_INFILESIZE_LARGE, length == NC_LENGTH_UNKNOWN ? -1 : (curl_off_t)length);
        SET(row, CURLOPT_CUSTOMREQUEST, asked->method != NULL ? asked->method : "GET");
    } else if (asked->is_head) {
        SET(row, CURLOPT_CUSTOMREQUEST, NULL);
        SET(row, CURLOPT_NOBODY, 1L);
    } else {
        SET(row, CURLOPT_CUSTOMREQUEST, asked->method);
    }
    handle->is_plain_get = is_plain_get;
}

/// libcurl 7.88 does not end the stream of a request that is first sent without its body, and servers wait for the end.
static bool may_not_be_stream(const nc_transfer *transfer) {
    return nc_quirk_leaves_bodiless_stream_open(transfer->engine->libcurl_version) && transfer->description.has_body &&
           !transfer->is_get && (nc_auth_awaited_parties(transfer) & NC_PARTY_HOST) != 0;
}

static long http_version_of(const nc_transfer *transfer, bool is_secure) {
    if (transfer->detour != NULL && nc_detour_is_http3(transfer->detour)) {
        return CURL_HTTP_VERSION_3ONLY;
    }
    switch (transfer->description.http) {
    case NC_HTTP_1_0:
        return CURL_HTTP_VERSION_1_0;
    case NC_HTTP_3:
        return CURL_HTTP_VERSION_3ONLY;
    case NC_HTTP_2_PRIOR_KNOWLEDGE: // Over TLS ALPN negotiates it; libcurl 8 would not.
    case NC_HTTP_AUTO:
        if (!is_secure && transfer->description.http == NC_HTTP_2_PRIOR_KNOWLEDGE) {
            return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
        }
        // Without OpenSSL the frames are unknown, and so are the ends of bodies.
        return is_secure && !transfer->needs_http1 && transfer->engine->capabilities.has_http2 &&
                       transfer->engine->capabilities.has_trust_policies && !may_not_be_stream(transfer)
                   ? CURL_HTTP_VERSION_2TLS
                   : CURL_HTTP_VERSION_1_1;
    default:
        return CURL_HTTP_VERSION_1_1;
    }
}

/// libcurl 7.88 cannot send a second request over a cleartext HTTP/2 connection: it restarts the protocol ("Error in
/// the HTTP2 framing layer"; fixed in 8.0). So each request gets its own connection.
static bool is_alone_on_connection(const nc_transfer *transfer, long version, bool is_secure) {
    return version == CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE && !is_secure &&
           nc_quirk_breaks_second_cleartext_request(transfer->engine->libcurl_version);
}

bool nc_handle_may_be_multiplexed(const nc_transfer *transfer) {
    bool is_secure = false;
    (void)nc_url_has_web_scheme(nc_transfer_url(transfer), &is_secure);
    long version = http_version_of(transfer, is_secure);
    return version != CURL_HTTP_VERSION_1_1 && version != CURL_HTTP_VERSION_1_0 &&
           !is_alone_on_connection(transfer, version, is_secure);
}

static void set_protocol(option_row *row, nc_handle *handle, const nc_transfer *transfer) {
    bool is_secure = false;
    (void)nc_url_has_web_scheme(nc_transfer_url(transfer), &is_secure);
    long version = http_version_of(transfer, is_secure);
    bool is_alone = is_alone_on_connection(transfer, version, is_secure);
    // Waiting for a connection of unknown protocol only pays if the protocol is soon known (by ALPN) or is fixed. Over
    // plain HTTP libcurl would hold back every other transfer until the end of the first response.
    bool shares = !transfer->is_apart && nc_handle_may_be_multiplexed(transfer);
    // If only some servers of a host support HTTP/2, libcurl assumes that each of its connections is multiplexed, even
    // a busy one. Two requests would be mixed on it.
    bool is_unlike = shares && nc_apart_has_unlike_members(transfer, transfer->lane);
    if (is_alone || is_unlike) {
        SET(row, CURLOPT_FRESH_CONNECT, 1L);
        SET(row, CURLOPT_FORBID_REUSE, 1L);
        handle->has_extras = true;
    }
    if (handle->http_version != version) {
        SET(row, CURLOPT_HTTP_VERSION, version);
        handle->http_version = version;
    }
    // libcurl 8.14 does not check again when a handshake negotiates HTTP/1.1. A waiting transfer would wait for the end
    // of the first response.
    bool waits = shares && !is_unlike &&
                 (!nc_quirk_forgets_waiting_transfers(transfer->engine->libcurl_version) ||
                  (transfer->host != NULL && transfer->host->is_multiplexed));
    if (handle->waits_for_connection != waits) {
        SET(row, CURLOPT_PIPEWAIT, waits ? 1L : 0L);
        handle->waits_for_connection = waits;
    }
    handle->shares_connections = shares;
}

/// Returns the size of libcurl's receive buffer for the transfer's hop.
static long buffer_bytes(const nc_transfer *transfer) {
    bool is_streamed = transfer->has_sink && transfer->sink.on_body != NULL;
    bool is_saved = transfer->description.extras != NULL && transfer->description.extras->save_path != NULL;
    // Under a rate limit, a pause pays for bytes that arrive together.
    bool is_paced = transfer->description.limits.max_receive_bytes_per_s != 0 ||
                    transfer->engine->loop.receive_pace.bytes_per_s != 0;
    bool is_long = !is_paced && (is_saved || (is_streamed && !transfer->description.accepts_codings));
    long least = transfer->description.http == NC_HTTP_2_PRIOR_KNOWLEDGE ? STREAM_RECEIVE_BYTES
                 : nc_handle_may_be_multiplexed(transfer)                ? RECORD_RECEIVE_BYTES
                                                                         : RECEIVE_BYTES;
    return is_long ? LONG_RECEIVE_BYTES : is_streamed && !is_paced ? STREAM_RECEIVE_BYTES : least;
}

/// Returns false if libcurl cannot change the buffer any more: 7.88 keeps that of a stream that ended while others
/// continued on its connection.
static bool set_buffer(nc_handle *handle, long bytes) {
    if (handle->receive_bytes != bytes && curl_easy_setopt(handle->easy, CURLOPT_BUFFERSIZE, bytes) != CURLE_OK) {
        return false;
    }
    handle->receive_bytes = bytes;
    return true;
}

nc_handle *nc_handle_take(nc_lane *lane, const nc_transfer *transfer) {
    long bytes = buffer_bytes(transfer);
    nc_handle *handle = NULL;
    while ((handle = lane->free_handles) != NULL) {
        lane->free_handles = handle->next;
        lane->free_handle_count--;
        if (set_buffer(handle, bytes)) {
            nc_trace_pass(&lane->engine->trace, NC_TRACE_HANDLE_REUSED, 0);
            return handle;
        }
        nc_handle_free(handle);
    }
    handle = make(lane);
    if (handle != NULL) {
        (void)set_buffer(handle, bytes);
        nc_trace_pass(&lane->engine->trace, NC_TRACE_HANDLE_CREATED, 0);
    }
    return handle;
}

nc_status nc_handle_set_cookies(nc_handle *handle, nc_transfer *transfer) {
    nc_buf field = nc_buf_init(SIZE_MAX); // The jar and a request have their own limits.
    bool are_sent = nc_cookies_are_sent(transfer);
    nc_status status = are_sent ? nc_cookies_append_field(&field, transfer) : NC_OK;
    // Two Cookie fields are not allowed (RFC 6265, 5.4).
    if (status == NC_OK && are_sent && !transfer->is_elsewhere) {
        nc_description_join_cookies(&transfer->description, &field);
    }
    if (status == NC_OK && field.length > 0) {
        nc_buf_append_byte(&field, 0);
        status = nc_buf_status(&field);
    }
    if (status == NC_OK && (field.length > 0 || handle->has_cookies)) {
        status = status_of(curl_easy_setopt(handle->easy, CURLOPT_COOKIE, (const char *)field.data));
        handle->has_cookies = field.length > 0;
    }
    nc_buf_deinit(&field);
    return status;
}

static void set_headers(option_row *row, nc_handle *handle, nc_transfer *transfer) {
    bool joins = nc_cookies_are_sent(transfer);
    if (row->code == CURLE_OK && nc_handle_set_cookies(handle, transfer) != NC_OK) {
        row->code = CURLE_OUT_OF_MEMORY;
    }
    struct curl_slist *fields =
        nc_description_link_headers(&transfer->description, transfer->is_elsewhere, transfer->is_get, joins);
    fields = nc_auth_answer_link(transfer, fields);
    bool has_detour = transfer->detour != NULL;
    SET(row, CURLOPT_HTTPHEADER, has_detour ? nc_detour_link_headers(transfer->detour, fields) : fields);
}

static bool is_apart_from_netrc(const nc_transfer *transfer) {
    return transfer->is_elsewhere || transfer->description.is_elsewhere;
}

nc_status nc_handle_check_netrc(nc_transfer *transfer) {
    const nc_state *state = &transfer->engine->state;
    bool reads = !is_apart_from_netrc(transfer) && nc_access_reads_netrc(state, transfer->description.extras);
    return reads ? nc_state_check_files(state, &transfer->engine->files, &transfer->error) : NC_OK;
}

static void set_credentials(option_row *row, nc_handle *handle, nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    if (is_apart_from_netrc(transfer) && transfer->engine->state.uses_netrc) {
        // The file contains hosts, not origins, and "default" matches every host.
        SET(row, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
        handle->has_extras = true;
    }
    if (asked->extras != NULL && row->code == CURLE_OK) {
        handle->has_extras = true;
        row->code =
            nc_access_set_request(handle->easy, &transfer->engine->state, asked->extras, transfer->is_elsewhere);
    }
    handle->has_extras = handle->has_extras || nc_auth_own_parties(transfer) != 0;
    row->code = row->code == CURLE_OK ? nc_auth_answer_set(handle->easy, transfer) : row->code;
    // libcurl would send an empty body twice.
    bool is_empty = asked->has_body && transfer->upload.length == 0;
    uint8_t at_once = is_empty ? nc_auth_awaited_parties(transfer) : transfer->at_once;
    at_once = (uint8_t)(at_once & ~nc_auth_own_parties(transfer));
    if ((at_once & NC_PARTY_HOST) != 0) {
        SET(row, CURLOPT_HTTPAUTH, nc_access_at_once(asked->extras->credentials.schemes));
    }
    if ((at_once & NC_PARTY_PROXY) != 0) {
        SET(row, CURLOPT_PROXYAUTH, nc_access_at_once(nc_handle_proxy(transfer)->credentials.schemes));
        handle->has_extras = true;
    }
}

nc_status nc_handle_configure(nc_handle *handle, nc_transfer *transfer) {
    nc_description *asked = &transfer->description;
    option_row row = {handle->easy, CURLE_OK};
    handle->transfer = transfer;
    handle->fd = -1;
    handle->fd_count = 0;
    handle->detail[0] = '\0';
    if (handle->is_watched) {
        SET(&row, CURLOPT_VERBOSE, 0L);
        handle->is_watched = false;
    }
    if (handle->has_target) {
        SET(&row, CURLOPT_REQUEST_TARGET, NULL);
        handle->has_target = false;
    }
    set_url(&row, handle, transfer);
    set_headers(&row, handle, transfer);
    set_method(&row, handle, transfer);
    set_protocol(&row, handle, transfer);
    struct curl_slist *way = transfer->detour != NULL ? nc_detour_connect_to(transfer->detour) : asked->connect_to;
    if (handle->has_connect_to || way != NULL) {
        SET(&row, CURLOPT_CONNECT_TO, way);
        handle->has_connect_to = way != NULL;
    }
    if (handle->connect_ms != asked->limits.connect_ms) {
        // The engine's timer ends a slow connect. libcurl divides its timeout among a host's addresses.
        long connect_ms = asked->limits.connect_ms == NC_UNLIMITED ? INT32_MAX : (long)asked->limits.connect_ms;
        SET(&row, CURLOPT_CONNECTTIMEOUT_MS, connect_ms < INT32_MAX ? connect_ms : INT32_MAX);
        handle->connect_ms = asked->limits.connect_ms;
    }
    if (transfer->is_afresh) {
        SET(&row, CURLOPT_FRESH_CONNECT, 1L);
        handle->has_extras = true;
    }
    set_credentials(&row, handle, transfer);
    return status_of(row.code);
}

void nc_handle_heed_length(nc_handle *handle, bool is_heeded) {
    if (handle->ignores_length == is_heeded) {
        (void)curl_easy_setopt(handle->easy, CURLOPT_IGNORE_CONTENT_LENGTH, is_heeded ? 0L : 1L);
        handle->ignores_length = !is_heeded;
    }
}

void nc_handle_forbid_reuse(nc_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_FORBID_REUSE, 1L);
    handle->has_extras = true;
}

void nc_handle_watch_excess(nc_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_VERBOSE, 1L);
    handle->is_watched = true;
}

void nc_handle_watch_progress(nc_handle *handle) {
    (void)curl_easy_setopt(handle->easy, CURLOPT_NOPROGRESS, 0L);
    handle->has_extras = true;
}

const nc_kept_proxy *nc_handle_proxy(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    return extras != NULL && extras->has_proxy ? &extras->proxy : &transfer->engine->state.proxy;
}

bool nc_handle_may_need_tls(const nc_transfer *transfer) {
    const nc_state *state = &transfer->engine->state;
    const nc_kept_proxy *proxy = nc_handle_proxy(transfer);
    bool is_plain = proxy->choice == NC_PROXY_NONE ||
                    (proxy->choice == NC_PROXY_URL &&
                     (proxy->url[4] == ':' || proxy->url[0] == 's' || proxy->url[0] == 'S')); // "http:", "socks…"
    return state->doh_url != NULL || !is_plain;
}
