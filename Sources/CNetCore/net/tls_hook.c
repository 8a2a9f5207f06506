#include "net/tls_hook.h"

#include "base/alloc.h"
#include "base/trace.h"
#include "http/origin.h"
#include "http/public_suffix.h"
#include "net/engine_state.h"
#include "net/h2_tap.h"
#include "net/metrics.h"
#include "net/response.h"
#include "trust/handshake.h"
#include "trust/identity.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// Limit of bytes that a connection may receive without a byte of a response. Empty frames, padding and tickets can be
/// endless. libcurl 7.88 and OpenSSL read while bytes are available, which blocks the event loop. The limit also
/// applies to the rest of an unwanted body. A ticket costs more than its length.
enum { MAX_UNHEEDED_BYTES = 16 << 20, TICKET_WEIGHT = 16 << 10 };

/// Small frames and records cost more than their bytes. So many of them block the event loop for less than 20 ms.
enum { MAX_UNHEEDED_FRAMES = 32 << 10, MIN_RECORD_WEIGHT = 512 };

/// Consecutive failed writes, without a read in between, that are reported as "would block".
enum { MAX_FAILED_WRITES = 3 };

struct nc_tls_end {
    unsigned references;
    nc_lane *lane;     // of the connection
    SSL *tls;          // NULL after it is freed
    nc_tls_end *outer; // of the HTTPS proxy around it; NULL without one
    nc_h2_tap *tap;    // NULL if HTTP/2 is impossible
    nc_unheeded records;
    nc_unheeded frames;
    int failed_writes;
    uint8_t alert;   // the received fatal alert (RFC 8446, 6); 0 for none
    bool is_watched; // by a transfer; before that, received messages are only counted
    bool has_close_notify;
    bool is_flooded;
    bool has_ended;      // the TCP connection, or its receiving side
    bool has_sent_alert; // a fatal one
    bool is_read_out;    // OpenSSL has verified all received records
};

/* --- received messages --- */

static int end_index = -1;

static void drop_end(void *parent, void *end, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    (void)parent;
    (void)data;
    (void)index;
    (void)number;
    (void)pointer;
    nc_tls_end *dropped = end;
    if (dropped != NULL) {
        dropped->tls = NULL;
        if (dropped->tap != NULL) {
            nc_h2_tap_close(dropped->tap);
        }
    }
    nc_tls_release_end(dropped);
}

static void find_end_index(void) {
    end_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, drop_end);
}

/// Returns the state of a connection, from its first message on; NULL if memory is exhausted.
static nc_tls_end *end_of(SSL *tls, nc_lane *lane) {
    nc_tls_end *end = SSL_get_ex_data(tls, end_index);
    if (end != NULL) {
        return end;
    }
    end = nc_alloc_zeroed(1, sizeof *end);
    if (end == NULL || SSL_set_ex_data(tls, end_index, end) != 1) {
        nc_free(end);
        return NULL;
    }
    end->references = 1;
    end->lane = lane;
    end->tls = tls;
    return end;
}

/// Stores an alert that ends the connection: libcurl may report another failure, such as that of getpeername(). TLS 1.3
/// ignores the level; close_notify (0) and user_canceled are no failures.
static void record_alert(nc_tls_end *end, const uint8_t *alert, const SSL *tls) {
    bool is_fatal = alert[0] == SSL3_AL_FATAL || SSL_version(tls) >= TLS1_3_VERSION;
    if (is_fatal && alert[1] != SSL_AD_USER_CANCELLED && end->alert == 0) {
        end->alert = alert[1];
    }
}

/// Stops reading from a flooding server, as if it had sent close_notify, which it has not.
static void stop_reading(nc_tls_end *end) {
    end->is_flooded = true;
    SSL_set_shutdown(end->tls, SSL_get_shutdown(end->tls) | SSL_RECEIVED_SHUTDOWN);
}

/// Counts received messages, within the handshake too: OpenSSL skips any number of HelloRequests (RFC 5246, 7.4.1.1).
static void on_message(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls, void *ctx) {
    const uint8_t *head = bytes;
    (void)version;
    bool is_alert = type == SSL3_RT_ALERT && length == 2;
    bool is_record = type == SSL3_RT_HEADER && length == SSL3_RT_HEADER_LENGTH;
    nc_tls_end *known = SSL_get_ex_data(tls, end_index);
    if (is_sent && is_alert && known != NULL) {
        known->has_sent_alert = known->has_sent_alert || head[1] != SSL_AD_CLOSE_NOTIFY;
    }
    if (is_sent || !(is_alert || is_record || type == SSL3_RT_HANDSHAKE)) {
        return;
    }
    nc_tls_end *end = end_of(tls, ctx);
    if (end == NULL) {
        return; // The next message is counted, or nc_tls_watch() reports the failure.
    }
    if (is_alert) {
        record_alert(end, head, tls);
        return;
    }
    if (is_record && end->tap != NULL) {
        nc_h2_tap_count_record(end->tap);
    }
    size_t weight = is_record ? (size_t)head[3] << 8 | head[4] : TICKET_WEIGHT;
    weight = weight < MIN_RECORD_WEIGHT ? MIN_RECORD_WEIGHT : weight;
    if (nc_lane_count_unheeded(end->lane, &end->records, weight) > MAX_UNHEEDED_BYTES) {
        stop_reading(end);
    }
}

static void show_tap(nc_tls_end *end, bool is_sent, nc_slice bytes) {
    if (end->tap == NULL) {
        return;
    }
    nc_h2_tap_feed(end->tap, is_sent, bytes);
    size_t frames = nc_h2_tap_take_count(end->tap);
    if (nc_lane_count_unheeded(end->lane, &end->frames, frames) > MAX_UNHEEDED_FRAMES) {
        stop_reading(end);
    }
    if (nc_h2_tap_take_failure(end->tap)) {
        nc_lane_end_streams(end->lane);
    } else if (nc_h2_tap_take_doubt(end->tap)) {
        nc_lane_doubt_streams(end->lane); // With an error libcurl 8 only ends the stream that has read it.
    }
}

static void end_streams(nc_tls_end *end) {
    if (end->tap != NULL) {
        nc_lane_end_streams(end->lane);
    }
}

/// A server that closes after an early response or an alert resets the connection while bytes are sent. libcurl stops
/// at the first failed write, without reading the response. A read also detects a dead connection soon. So a failed
/// write is reported as "would block", and libcurl reads before it tries again. Before the connection is ready libcurl
/// 7.88 cannot wait (its HTTP/2 preface fails), so there the write counts as done.
static long on_wire(BIO *wire, int operation, const char *bytes, size_t length, int number, long whole, int result,
                    size_t *processed) {
    nc_tls_end *end = (nc_tls_end *)(void *)BIO_get_callback_arg(wire);
    bool is_read = operation == (BIO_CB_READ | BIO_CB_RETURN);
    bool is_write = operation == (BIO_CB_WRITE | BIO_CB_RETURN);
    (void)number;
    (void)whole;
    if ((is_read || is_write) && result > 0 && processed != NULL) {
        show_tap(end, is_write, nc_slice_make(bytes, *processed));
    }
    if (is_read && result <= 0 && !BIO_should_retry(wire) && !end->has_ended) {
        end->has_ended = true;
        end_streams(end);
    }
    if (is_read) {
        end->is_read_out = result <= 0; // OpenSSL reads after it has processed every complete record.
    }
    if (is_read && result > 0) {
        end->failed_writes = 0;
    } else if (is_write && result <= 0 && !BIO_should_retry(wire) && ++end->failed_writes <= MAX_FAILED_WRITES) {
        if (!end->is_watched) {
            *processed = length;
            show_tap(end, true, nc_slice_make(bytes, length));
            return 1;
        }
        BIO_set_retry_write(wire);
    }
    return result;
}

static void watch_wire(nc_tls_end *end) {
    BIO_set_callback_ex(SSL_get_wbio(end->tls), on_wire);
    BIO_set_callback_arg(SSL_get_wbio(end->tls), (char *)end);
}

/// Stores the end of a connection that the handle opens, and counts its messages from now on.
static void begin_end(nc_tls_end **place, nc_lane *lane, SSL *tls) {
    nc_tls_end *end = end_of(tls, lane);
    nc_tls_release_end(*place);
    *place = end;
    if (end != NULL) {
        end->references++;
    }
    SSL_set_msg_callback(tls, on_message);
    SSL_set_msg_callback_arg(tls, lane);
}

/// The first message to an HTTPS proxy, or to an origin: the handle that opens the connection exists.
static void on_first_message_to_proxy(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls,
                                      void *ctx) {
    nc_handle *handle = ctx;
    begin_end(&handle->proxy_end, handle->transfer->lane, tls);
    on_message(is_sent, version, type, bytes, length, tls, handle->transfer->lane);
}

static void on_first_message(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls,
                             void *ctx) {
    nc_handle *handle = ctx;
    begin_end(&handle->origin_end, handle->transfer->lane, tls);
    if (handle->origin_end != NULL) {
        // The tap must see all bytes, because the first frames may arrive together with the handshake. If memory is
        // exhausted, the ends of bodies without a length are unknown.
        handle->origin_end->tap = nc_h2_tap_new();
        watch_wire(handle->origin_end); // libcurl 7.88 sends the HTTP/2 preface before nc_tls_watch().
    }
    on_message(is_sent, version, type, bytes, length, tls, handle->transfer->lane);
}

/// Receives a secret of the connection. When application data begins, both sides have negotiated a protocol.
static void on_key(const SSL *tls, const char *line) {
    const unsigned char *name = NULL;
    unsigned length = 0;
    nc_tls_end *end = SSL_get_ex_data(tls, end_index);
    if (end == NULL || end->tap == NULL) {
        return;
    }
    SSL_get0_alpn_selected(tls, &name, &length);
    bool is_traffic = strstr(line, "TRAFFIC_SECRET_0 ") != NULL || strncmp(line, "CLIENT_RANDOM ", 14) == 0;
    if (length == 2 && memcmp(name, "h2", 2) == 0) {
        nc_h2_tap_take_keys(end->tap, tls, line);
    } else if (is_traffic) {
        nc_h2_tap_free(end->tap);
        end->tap = NULL;
    }
}

/// Counts every connection of a context separately, a proxy's too. `opener` is NULL for libcurl's own.
static bool count_messages(SSL_CTX *tls, nc_lane *lane, nc_handle *opener, bool is_proxys) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_end_index);
    SSL_CTX_set_msg_callback(tls, opener == NULL ? on_message
                                  : is_proxys    ? on_first_message_to_proxy
                                                 : on_first_message);
    SSL_CTX_set_msg_callback_arg(tls, opener != NULL ? (void *)opener : lane);
    return end_index >= 0;
}

/* --- contexts --- */

/// libcurl calls the hook for an HTTPS proxy's context too, and does not report which one it is. So only the proxy's
/// options set this bit (CURLSSLOPT_ALLOW_BEAST) as a mark. It has no effect from TLS 1.1 on.
static bool is_proxy_context(const SSL_CTX *context) {
    return (SSL_CTX_get_options(context) & SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS) != 0;
}

/// The handshake belongs to the handle that opened the connection. A handle of libcurl's own (DNS over HTTPS) has no
/// transfer.
static void note_refusal(void *easy, const nc_trust_verdict *verdict) {
    const nc_handle *handle = nc_handle_of(easy);
    if (handle == NULL || handle->transfer == NULL) {
        return;
    }
    int32_t native = verdict->status == NC_ERR_NO_MEMORY ? 0 : (int32_t)CURLE_PEER_FAILED_VERIFICATION;
    (void)nc_transfer_note(handle->transfer, verdict->status, native, "%s", verdict->message);
    nc_response_set_verdict(handle->transfer->response, verdict);
}

/// Returns the host in the form that certificates use: without a zone, IPv4 as IPv6 if it was written so. Empty if no
/// certificate can name it.
static nc_host_name name_of(const nc_canonical_host *host) {
    char text[sizeof "::ffff:" + NC_HOST_MAX_BYTES];
    nc_host_name name = {.length = 0};
    const uint8_t *zone = memchr(host->text.data, '%', host->text.length);
    size_t length = zone != NULL ? (size_t)(zone - host->text.data) : host->text.length;
    (void)snprintf(text, sizeof text, "%s%.*s", host->is_mapped ? "::ffff:" : "", (int)length,
                   (const char *)host->text.data);
    if (!nc_host_name_parse(&name, nc_slice_of(text))) {
        name = (nc_host_name){.length = 0};
    }
    return name;
}

nc_status nc_trust_evaluate(nc_trust_verdict *out, const nc_trust *trust, const nc_trust_question *question,
                            nc_error *err) {
    return nc_trust_evaluate_with(out, trust, question, nc_is_registry_suffix, err);
}

/// Makes the policy evaluate the origin in the handle's URL, which libcurl connects to.
static CURLcode watch_origin(CURL *easy, SSL_CTX *tls, nc_lane *lane) {
    const char *url = NULL;
    nc_origin origin;
    if (curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || url == NULL ||
        nc_origin_read(&origin, nc_slice_of(url), NULL) != NC_OK) {
        return CURLE_OUT_OF_MEMORY;
    }
    const nc_handshake handshake = {
        .trust = lane->trust,
        .roots = lane->roots,
        .known = &lane->known,
        .gate = &lane->reports,
        .host = name_of(&origin.host),
        .port = origin.port,
        .is_public_suffix = nc_is_registry_suffix,
        .clock = &lane->engine->clock,
        .ctx = easy,
        .refused = note_refusal,
    };
    return nc_handshake_install(tls, &handshake) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

/// Returns true during the connection's first handshake, before this side has sent Finished. A TLS 1.3 server may
/// request a certificate at any time (RFC 8446, 4.6.2), after the handle that opened the connection has gone.
static bool is_being_opened(const SSL *tls) {
    uint8_t byte = 0;
    return SSL_get_finished(tls, &byte, sizeof byte) == 0;
}

/// The server requests a certificate, and there is none. It may report that, or abort the handshake without an alert.
static int go_without_identity(SSL *tls, void *easy) {
    const nc_handle *handle = is_being_opened(tls) ? nc_handle_of(easy) : NULL;
    if (handle != NULL && handle->transfer != NULL) {
        handle->transfer->shows_no_identity = true;
    }
    return 1;
}

static CURLcode fill_context(CURL *easy, void *context, void *data) {
    SSL_CTX *tls = context;
    nc_lane *lane = data;
    bool is_proxys = is_proxy_context(tls);
    nc_handle *handle = nc_handle_of(easy);
    bool has_transfer = handle != NULL && handle->transfer != NULL;
    if (has_transfer) {
        nc_metrics_note_tcp(handle->transfer);
    }
    if (!count_messages(tls, lane, has_transfer ? handle : NULL, is_proxys)) {
        return CURLE_OUT_OF_MEMORY;
    }
    // With this, SSLKEYLOGFILE in the environment cannot make libcurl write session keys to a file.
    SSL_CTX_set_keylog_callback(tls, has_transfer && !is_proxys ? on_key : NULL);
    if (!nc_handshake_configure(tls, lane->trust)) {
        return CURLE_SSL_CIPHER;
    }
    if (lane->roots != NULL) {
        // Parsed once per pool; libcurl would parse the bundle for each connection (18 ms).
        SSL_CTX_set1_cert_store(tls, lane->roots);
    }
    // Pins apply to the origin only. libcurl verifies a proxy's certificate and compares its name.
    CURLcode code = is_proxys || nc_trust_checks_nothing(lane->trust) ? CURLE_OK : watch_origin(easy, tls, lane);
    if (code != CURLE_OK) {
        return code;
    }
    // Nor do they apply to libcurl's DNS over HTTPS server.
    bool is_origins = !is_proxys && handle != NULL;
    if (lane->identity != NULL && is_origins && !nc_identity_apply(lane->identity, tls)) {
        return CURLE_SSL_CERTPROBLEM;
    }
    if (lane->identity == NULL && is_origins) {
        SSL_CTX_set_cert_cb(tls, go_without_identity, easy);
    }
    nc_trace_pass(&lane->engine->trace, NC_TRACE_TLS_CONFIGURED, 0);
    return CURLE_OK;
}

CURLcode nc_tls_hook_install(CURL *easy, nc_lane *lane) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, fill_context);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, lane);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_ALLOW_BEAST);
        // A libcurl without proxies needs no mark.
        code = code == CURLE_UNKNOWN_OPTION || code == CURLE_NOT_BUILT_IN ? CURLE_OK : code;
    }
    return code;
}

/// Returns the handle's live connection; NULL without TLS by OpenSSL.
static SSL *live_connection(CURL *easy) {
    const struct curl_tlssessioninfo *info = NULL;
    bool is_known = curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info != NULL &&
                    info->backend == CURLSSLBACKEND_OPENSSL;
    return is_known ? info->internals : NULL;
}

void nc_tls_describe(CURL *easy, nc_hop_metrics *hop) {
    SSL *tls = live_connection(easy);
    // Neither exists before the handshake has chosen a cipher.
    bool is_live = tls != NULL && SSL_get_current_cipher(tls) != NULL;
    // Both exist in every OpenSSL 3, and also know groups without a NID, such as those with ML-KEM.
    long group = is_live ? SSL_get_negotiated_group(tls) : NID_undef;
    const char *group_name = group != NID_undef ? SSL_group_to_name(tls, (int)group) : NULL;
    (void)snprintf(hop->tls_version, sizeof hop->tls_version, "%s", is_live ? SSL_get_version(tls) : "");
    (void)snprintf(hop->tls_cipher, sizeof hop->tls_cipher, "%s", is_live ? SSL_get_cipher_name(tls) : "");
    (void)snprintf(hop->tls_group, sizeof hop->tls_group, "%s", group_name != NULL ? group_name : "");
}

bool nc_tls_may_be_multiplexed(CURL *easy) {
    const SSL *tls = live_connection(easy);
    const unsigned char *name = NULL;
    unsigned length = 0;
    if (tls != NULL) {
        SSL_get0_alpn_selected(tls, &name, &length);
    }
    return tls == NULL || (length == 2 && name[0] == 'h' && name[1] == '2');
}

bool nc_tls_has_unread(CURL *easy) {
    const SSL *tls = live_connection(easy);
    const nc_tls_end *end = tls != NULL ? SSL_get_ex_data(tls, end_index) : NULL;
    const SSL *outer = end != NULL && end->outer != NULL ? end->outer->tls : NULL;
    return tls != NULL && (SSL_has_pending(tls) || (outer != NULL && SSL_has_pending(outer)));
}

/* --- end of a connection --- */

static void on_info(const SSL *tls, int where, int alert) {
    nc_tls_end *end = SSL_get_ex_data(tls, end_index);
    if (where == SSL_CB_READ_ALERT && (alert & 0xff) == SSL_AD_CLOSE_NOTIFY && end != NULL) {
        end->has_close_notify = true;
        end->is_read_out = true; // The tap ignores what follows it.
        end_streams(end);
    }
}

nc_status nc_tls_watch(CURL *easy, nc_lane *lane, nc_tls_end **out) {
    SSL *tls = live_connection(easy);
    *out = NULL;
    if (tls == NULL) {
        return NC_OK;
    }
    nc_tls_end *end = end_of(tls, lane);
    if (end == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    if (!end->is_watched) {
        nc_handle *handle = nc_handle_of(easy);
        end->is_watched = true;
        end->outer = handle->proxy_end;
        handle->proxy_end = NULL;
        SSL_set_info_callback(tls, on_info);
        watch_wire(end);
    }
    end->references++;
    *out = end;
    return NC_OK;
}

nc_h2_tap *nc_tls_tap(const nc_tls_end *end) {
    return end != NULL ? end->tap : NULL;
}

bool nc_tls_has_close_notify(const nc_tls_end *end) {
    return end->has_close_notify;
}

int nc_tls_alert(const nc_tls_end *end) {
    bool is_inner = end != NULL && (end->alert != 0 || end->outer == NULL);
    return end == NULL ? 0 : is_inner ? end->alert : end->outer->alert;
}

bool nc_tls_is_flooded(const nc_tls_end *end) {
    return end != NULL && end->is_flooded;
}

bool nc_tls_is_over(const nc_tls_end *end) {
    return end != NULL && end->tap != NULL &&
           (end->has_ended || end->has_close_notify || nc_h2_tap_has_failed(end->tap));
}

bool nc_tls_is_verified(const nc_tls_end *end) {
    return !end->has_sent_alert && (end->is_read_out || (end->tls != NULL && SSL_has_pending(end->tls) == 0));
}

void nc_tls_release_end(nc_tls_end *end) {
    if (end != NULL && --end->references == 0) {
        nc_tls_release_end(end->outer);
        nc_h2_tap_free(end->tap);
        nc_free(end);
    }
}
