#include "curl/tls_hook.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/trace.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "http/url_text.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "text/host.h"
#include "trust/handshake.h"
#include "trust/identity.h"
#include "trust/pattern.h"
#include "trust/policy.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <string.h>

/// Limits the bytes that a connection receives while no byte of a response arrives. A server can send empty frames,
/// padding and tickets without end. libcurl and OpenSSL read while bytes are available, which blocks the event
/// loop. The limit also applies to the rest of an unwanted body. A ticket costs more time than its bytes, so each
/// handshake message counts as TICKET_WEIGHT bytes.
enum { MAX_UNPRODUCTIVE_BYTES = 16 << 20, TICKET_WEIGHT = 16 << 10 };

/// Small frames and records cost more time than their bytes. This many block the event loop for less than 20 ms.
enum { MAX_UNPRODUCTIVE_FRAMES = 32 << 10, MIN_RECORD_WEIGHT = 512 };

struct nc_tls_connection {
    unsigned references;
    nc_conn_pool *conn_pool;
    SSL *tls;                 // NULL after it is freed
    nc_tls_connection *outer; // of the HTTPS proxy around it; NULL without one
    nc_h2_tap *tap;           // NULL if HTTP/2 is impossible
    nc_undelivered_count records;
    nc_undelivered_count frames;
    nc_tls_wire wire;
    bool is_proxy;   // the peer is an HTTPS proxy
    uint8_t alert;   // the received fatal alert (RFC 8446, 6); 0 for none
    bool is_watched; // a transfer uses it; before that, received messages are only counted
    bool is_flooded;
    bool has_sent_alert; // a fatal alert was sent
    bool is_read_out;    // OpenSSL has verified all received records
};

/* --- received messages --- */

static int connection_index = -1;

static void drop_connection(void *parent, void *connection, CRYPTO_EX_DATA *data, int index, long number,
                            void *pointer) {
    (void)parent;
    (void)data;
    (void)index;
    (void)number;
    (void)pointer;
    nc_tls_connection *dropped = connection;
    if (dropped != NULL) {
        dropped->tls = NULL;
        if (dropped->tap != NULL) {
            nc_h2_tap_close(dropped->tap);
        }
    }
    nc_tls_release(dropped);
}

static void find_connection_index(void) {
    connection_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, drop_connection);
}

/// Returns the state of a connection, from its first message on; NULL if memory is exhausted.
static nc_tls_connection *connection_of(SSL *tls, nc_conn_pool *conn_pool) {
    nc_tls_connection *connection = SSL_get_ex_data(tls, connection_index);
    if (connection != NULL) {
        return connection;
    }
    connection = nc_alloc_zeroed(1, sizeof *connection);
    if (connection == NULL || SSL_set_ex_data(tls, connection_index, connection) != 1) {
        nc_free(connection);
        return NULL;
    }
    connection->references = 1;
    connection->conn_pool = conn_pool;
    connection->tls = tls;
    return connection;
}

/// Stores an alert that ends the connection, because libcurl may report a later failure, such as one of getpeername().
/// TLS 1.3 ignores the level. close_notify (0) and user_canceled are not failures.
static void record_alert(nc_tls_connection *connection, const uint8_t *alert, const SSL *tls) {
    bool is_fatal = alert[0] == SSL3_AL_FATAL || SSL_version(tls) >= TLS1_3_VERSION;
    if (is_fatal && alert[1] != SSL_AD_USER_CANCELLED && connection->alert == 0) {
        connection->alert = alert[1];
    }
}

/// Stops reading from a flooding server: makes OpenSSL behave as after close_notify, but leaves has_close_notify false.
static void stop_reading(nc_tls_connection *connection) {
    connection->is_flooded = true;
    SSL_set_shutdown(connection->tls, SSL_get_shutdown(connection->tls) | SSL_RECEIVED_SHUTDOWN);
}

/// Counts received messages, within the handshake too: OpenSSL skips any number of HelloRequests (RFC 5246, 7.4.1.1).
static void on_message(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls, void *ctx) {
    const uint8_t *head = bytes;
    (void)version;
    bool is_alert = type == SSL3_RT_ALERT && length == 2;
    bool is_record = type == SSL3_RT_HEADER && length == SSL3_RT_HEADER_LENGTH;
    nc_tls_connection *existing = SSL_get_ex_data(tls, connection_index);
    if (is_sent && is_alert && existing != NULL) {
        existing->has_sent_alert = existing->has_sent_alert || head[1] != SSL_AD_CLOSE_NOTIFY;
    }
    if (is_sent || !(is_alert || is_record || type == SSL3_RT_HANDSHAKE)) {
        return;
    }
    nc_tls_connection *connection = connection_of(tls, ctx);
    if (connection == NULL) {
        return; // The next message is counted, or nc_tls_watch() reports the failure.
    }
    if (is_alert) {
        record_alert(connection, head, tls);
        return;
    }
    if (is_record && connection->tap != NULL) {
        nc_h2_tap_count_record(connection->tap);
    }
    size_t weight = is_record ? (size_t)head[3] << 8 | head[4] : TICKET_WEIGHT;
    weight = weight < MIN_RECORD_WEIGHT ? MIN_RECORD_WEIGHT : weight;
    if (nc_conn_streams_count(connection->conn_pool, &connection->records, weight) > MAX_UNPRODUCTIVE_BYTES) {
        stop_reading(connection);
    }
}

static void feed_tap(nc_tls_connection *connection, bool is_sent, nc_slice bytes) {
    if (connection->tap == NULL) {
        return;
    }
    nc_h2_tap_feed(connection->tap, is_sent, bytes);
    size_t frames = nc_h2_tap_take_count(connection->tap);
    if (nc_conn_streams_count(connection->conn_pool, &connection->frames, frames) > MAX_UNPRODUCTIVE_FRAMES) {
        stop_reading(connection);
    }
    if (nc_h2_tap_take_failure(connection->tap)) {
        nc_conn_streams_end(connection->conn_pool);
    } else if (nc_h2_tap_take_recheck(connection->tap)) {
        nc_conn_streams_recheck(connection->conn_pool); // libcurl may end only the stream that read the error.
    }
}

static void end_streams(nc_tls_connection *connection) {
    if (connection->tap != NULL) {
        nc_conn_streams_end(connection->conn_pool);
    }
}

/// Reports a failed write as "would block", so that libcurl reads before it tries again. A server may close after an
/// early response or an alert, and libcurl gives up at the first failed write without reading. If the connection is
/// dead, the read fails soon too. Before the connection is ready, a failed write is reported as a success.
static long on_bio_call(BIO *wire, int operation, const char *bytes, size_t length, int number, long whole, int result,
                        size_t *processed) {
    bool is_read = operation == (BIO_CB_READ | BIO_CB_RETURN);
    bool is_write = operation == (BIO_CB_WRITE | BIO_CB_RETURN);
    (void)number;
    (void)whole;
    if (!is_read && !is_write) {
        return result; // most calls: OpenSSL controls the BIO several times for each record
    }
    int error = errno; // of the system call
    nc_tls_connection *connection = (nc_tls_connection *)(void *)BIO_get_callback_arg(wire);
    if (result > 0 && processed != NULL) {
        feed_tap(connection, is_write, nc_slice_make(bytes, *processed));
    }
    bool has_failed = result <= 0 && !BIO_should_retry(wire);
    if (is_read && (has_failed || result > 0) && nc_tls_wire_read(&connection->wire, result, error)) {
        end_streams(connection);
    }
    if (is_read) {
        connection->is_read_out = result <= 0; // OpenSSL reads again only when all complete records are verified.
    }
    if (is_write && has_failed && nc_tls_wire_hides_failed_write(&connection->wire, error) && !connection->is_proxy) {
        if (nc_quirk_fails_blocked_preface(connection->is_watched)) {
            *processed = length;
            feed_tap(connection, true, nc_slice_make(bytes, length));
            return 1;
        }
        BIO_set_retry_write(wire);
    }
    return result;
}

/// Returns true if TLS runs within QUIC (RFC 9001). It then has no records, and its frames are not those of HTTP/2.
static bool is_within_quic(const nc_tls_connection *connection) {
    const BIO *wire = SSL_get_wbio(connection->tls);
    return wire == NULL || BIO_method_type(wire) == BIO_TYPE_DGRAM;
}

static void watch_wire(nc_tls_connection *connection) {
    if (!is_within_quic(connection)) {
        BIO_set_callback_ex(SSL_get_wbio(connection->tls), on_bio_call);
        BIO_set_callback_arg(SSL_get_wbio(connection->tls), (char *)connection);
    }
}

/// Stores the state of a connection that the handle opens, and counts the connection's messages from now on.
static void store_connection(nc_tls_connection **out, nc_conn_pool *conn_pool, SSL *tls) {
    nc_tls_connection *connection = connection_of(tls, conn_pool);
    nc_tls_release(*out);
    *out = connection;
    if (connection != NULL) {
        connection->references++;
    }
    SSL_set_msg_callback(tls, on_message);
    SSL_set_msg_callback_arg(tls, conn_pool);
}

/// Handles the first TLS message to an HTTPS proxy, while the handle that opens the connection exists.
static void on_first_message_to_proxy(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls,
                                      void *ctx) {
    nc_easy_handle *handle = ctx;
    store_connection(&handle->proxy_tls, handle->transfer->conn_pool, tls);
    if (handle->proxy_tls != NULL) {
        handle->proxy_tls->is_proxy = true;
        watch_wire(handle->proxy_tls);
    }
    on_message(is_sent, version, type, bytes, length, tls, handle->transfer->conn_pool);
}

static void on_first_message(int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls,
                             void *ctx) {
    nc_easy_handle *handle = ctx;
    store_connection(&handle->origin_tls, handle->transfer->conn_pool, tls);
    if (handle->origin_tls != NULL && !is_within_quic(handle->origin_tls)) {
        // The tap must see all bytes, because the first frames may arrive together with the handshake. If memory is
        // exhausted, the ends of bodies without a length are unknown.
        handle->origin_tls->tap = nc_h2_tap_new();
        watch_wire(handle->origin_tls); // libcurl may send the HTTP/2 preface before nc_tls_watch().
    }
    on_message(is_sent, version, type, bytes, length, tls, handle->transfer->conn_pool);
}

/// Receives a line of OpenSSL's key log. ALPN is complete with the first traffic key: without HTTP/2, frees the tap.
static void on_key(const SSL *tls, const char *line) {
    const unsigned char *name = NULL;
    unsigned length = 0;
    nc_tls_connection *connection = SSL_get_ex_data(tls, connection_index);
    if (connection == NULL || connection->tap == NULL) {
        return;
    }
    SSL_get0_alpn_selected(tls, &name, &length);
    bool is_traffic = strstr(line, "TRAFFIC_SECRET_0 ") != NULL || strncmp(line, "CLIENT_RANDOM ", 14) == 0;
    if (length == 2 && memcmp(name, "h2", 2) == 0) {
        nc_h2_tap_take_keys(connection->tap, tls, line);
    } else if (is_traffic) {
        nc_h2_tap_free(connection->tap);
        connection->tap = NULL;
    }
}

/// Installs the callback that counts messages, for each connection of the context separately. A proxy's connection
/// counts too. `opener` is NULL for libcurl's own handle (DNS over HTTPS).
static bool count_messages(SSL_CTX *tls, nc_conn_pool *conn_pool, nc_easy_handle *opener, bool is_proxy) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_connection_index);
    SSL_CTX_set_msg_callback(tls, opener == NULL ? on_message
                                  : is_proxy     ? on_first_message_to_proxy
                                                 : on_first_message);
    SSL_CTX_set_msg_callback_arg(tls, opener != NULL ? (void *)opener : conn_pool);
    return connection_index >= 0;
}

/* --- contexts --- */

/// libcurl calls the hook for an HTTPS proxy's context too, and does not report which one it is. So only the proxy's
/// options set this bit (CURLSSLOPT_ALLOW_BEAST) as a mark. It has no effect from TLS 1.1 on.
static bool is_proxy_context(const SSL_CTX *context) {
    return (SSL_CTX_get_options(context) & SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS) != 0;
}

/// Records a refusal in the transfer of the handle that opened the connection. A handle of libcurl's own (DNS over
/// HTTPS) has no transfer.
static void record_refusal(void *easy, const nc_trust_result *result) {
    const nc_easy_handle *handle = nc_easy_handle_of(easy);
    if (handle == NULL || handle->transfer == NULL) {
        return;
    }
    int32_t native = result->status == NC_ERR_NO_MEMORY ? 0 : (int32_t)CURLE_PEER_FAILED_VERIFICATION;
    (void)nc_transfer_record_error(handle->transfer, result->status, native, "%s", result->message);
    nc_response_set_trust_result(handle->transfer->response, result);
}

/// Makes the policy evaluate the origin in the handle's URL, which libcurl connects to.
static CURLcode watch_origin(CURL *easy, SSL_CTX *tls, nc_conn_pool *conn_pool) {
    const char *url = NULL;
    nc_origin origin;
    if (curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || url == NULL ||
        nc_origin_read(&origin, nc_slice_of(url), NULL) != NC_OK) {
        return CURLE_OUT_OF_MEMORY;
    }
    const nc_handshake handshake = {
        .trust = conn_pool->trust,
        .roots = conn_pool->roots,
        .chain_cache = &conn_pool->verified_chains,
        .gate = &conn_pool->reports,
        .host = nc_host_certificate_name(&origin.host),
        .port = origin.port,
        .clock = &conn_pool->engine->clock,
        .ctx = easy,
        .refused = record_refusal,
    };
    return nc_handshake_install(tls, &handshake) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

/// Returns true during the connection's first handshake, until the client has sent Finished. A TLS 1.3 server may
/// request a certificate later too (RFC 8446, 4.6.2), when the handle that opened the connection may be freed.
static bool is_being_opened(const SSL *tls) {
    uint8_t byte = 0;
    return SSL_get_finished(tls, &byte, sizeof byte) == 0;
}

/// Records that the server requests a certificate and the pool has none. The server may then end the handshake.
static int continue_without_identity(SSL *tls, void *easy) {
    const nc_easy_handle *handle = is_being_opened(tls) ? nc_easy_handle_of(easy) : NULL;
    if (handle != NULL && handle->transfer != NULL) {
        handle->transfer->hop.shows_no_identity = true;
    }
    return 1;
}

static CURLcode fill_context(CURL *easy, void *context, void *data) {
    SSL_CTX *tls = context;
    nc_conn_pool *conn_pool = data;
    bool is_proxy = is_proxy_context(tls);
    nc_easy_handle *handle = nc_easy_handle_of(easy);
    bool has_transfer = handle != NULL && handle->transfer != NULL;
    if (has_transfer) {
        nc_metrics_record_tcp(handle->transfer);
    }
    if (!count_messages(tls, conn_pool, has_transfer ? handle : NULL, is_proxy)) {
        return CURLE_OUT_OF_MEMORY;
    }
    // With this, SSLKEYLOGFILE in the environment cannot make libcurl write session keys to a file.
    SSL_CTX_set_keylog_callback(tls, has_transfer && !is_proxy ? on_key : NULL);
    if (!nc_handshake_configure(tls, conn_pool->trust)) {
        return CURLE_SSL_CIPHER;
    }
    if (conn_pool->roots != NULL) {
        // Parsed once per pool; libcurl would parse the bundle for each connection (18 ms).
        SSL_CTX_set1_cert_store(tls, conn_pool->roots);
    }
    // Pins apply to the origin only. libcurl verifies a proxy's certificate and compares its name.
    CURLcode code =
        is_proxy || nc_trust_checks_nothing(conn_pool->trust) ? CURLE_OK : watch_origin(easy, tls, conn_pool);
    if (code != CURLE_OK) {
        return code;
    }
    // The client certificate is never sent to a proxy or to libcurl's DNS over HTTPS server.
    bool is_origin = !is_proxy && handle != NULL;
    if (conn_pool->identity != NULL && is_origin && !nc_identity_apply(conn_pool->identity, tls)) {
        return CURLE_SSL_CERTPROBLEM;
    }
    if (conn_pool->identity == NULL && is_origin) {
        SSL_CTX_set_cert_cb(tls, continue_without_identity, easy);
    }
    nc_trace_pass(&conn_pool->engine->trace, NC_TRACE_TLS_CONFIGURED, 0);
    return CURLE_OK;
}

CURLcode nc_tls_hook_install(CURL *easy, nc_conn_pool *conn_pool) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, fill_context);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, conn_pool);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(easy, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_ALLOW_BEAST);
        // A libcurl without proxies needs no mark.
        code = code == CURLE_UNKNOWN_OPTION || code == CURLE_NOT_BUILT_IN ? CURLE_OK : code;
    }
    return code;
}

/// Returns OpenSSL's object for the handle's live connection; NULL if the connection does not use TLS through OpenSSL.
static SSL *live_connection(CURL *easy) {
    const struct curl_tlssessioninfo *info = NULL;
    bool is_known = curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info != NULL &&
                    info->backend == CURLSSLBACKEND_OPENSSL;
    return is_known ? info->internals : NULL;
}

void nc_tls_describe(CURL *easy, nc_hop_metrics *hop) {
    SSL *tls = live_connection(easy);
    // Version and cipher are known only after the handshake has chosen a cipher.
    bool is_live = tls != NULL && SSL_get_current_cipher(tls) != NULL;
    // Both functions exist in every OpenSSL 3. They also support groups without a NID, such as those with ML-KEM.
    long group = is_live ? SSL_get_negotiated_group(tls) : NID_undef;
    const char *group_name = group != NID_undef ? SSL_group_to_name(tls, (int)group) : NULL;
    nc_ascii_copy(hop->tls_version, sizeof hop->tls_version, is_live ? SSL_get_version(tls) : "");
    nc_ascii_copy(hop->tls_cipher, sizeof hop->tls_cipher, is_live ? SSL_get_cipher_name(tls) : "");
    nc_ascii_copy(hop->tls_group, sizeof hop->tls_group, group_name != NULL ? group_name : "");
}

bool nc_tls_may_speak(CURL *easy, const char *protocol) {
    const SSL *tls = live_connection(easy);
    const unsigned char *name = NULL;
    unsigned length = 0;
    if (tls != NULL) {
        SSL_get0_alpn_selected(tls, &name, &length);
    }
    return tls == NULL || (length == 2 && memcmp(name, protocol, 2) == 0);
}

bool nc_tls_has_unread(CURL *easy) {
    const SSL *tls = live_connection(easy);
    const nc_tls_connection *connection = tls != NULL ? SSL_get_ex_data(tls, connection_index) : NULL;
    const SSL *outer = connection != NULL && connection->outer != NULL ? connection->outer->tls : NULL;
    return tls != NULL && (SSL_has_pending(tls) || (outer != NULL && SSL_has_pending(outer)));
}

/* --- observed connections --- */

static void on_info(const SSL *tls, int where, int alert) {
    nc_tls_connection *connection = SSL_get_ex_data(tls, connection_index);
    if (where == SSL_CB_READ_ALERT && (alert & 0xff) == SSL_AD_CLOSE_NOTIFY && connection != NULL) {
        connection->wire.has_close_notify = true;
        connection->is_read_out = true; // The tap ignores what follows it.
        end_streams(connection);
    }
}

nc_status nc_tls_watch(CURL *easy, nc_conn_pool *conn_pool, nc_tls_connection **out) {
    SSL *tls = live_connection(easy);
    *out = NULL;
    if (tls == NULL) {
        return NC_OK;
    }
    nc_tls_connection *connection = connection_of(tls, conn_pool);
    if (connection == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    if (!connection->is_watched) {
        nc_easy_handle *handle = nc_easy_handle_of(easy);
        connection->is_watched = true;
        connection->outer = handle->proxy_tls;
        handle->proxy_tls = NULL;
        SSL_set_info_callback(tls, on_info);
        watch_wire(connection);
    }
    connection->references++;
    *out = connection;
    return NC_OK;
}

nc_h2_tap *nc_tls_tap(const nc_tls_connection *connection) {
    return connection != NULL ? connection->tap : NULL;
}

bool nc_tls_has_close_notify(const nc_tls_connection *connection) {
    return connection->wire.has_close_notify;
}

int nc_tls_alert(const nc_tls_connection *connection) {
    bool is_inner = connection != NULL && (connection->alert != 0 || connection->outer == NULL);
    return connection == NULL ? 0 : is_inner ? connection->alert : connection->outer->alert;
}

const nc_tls_wire *nc_tls_wire_of(const nc_tls_connection *connection) {
    bool is_outer = connection != NULL && connection->outer != NULL && connection->outer->wire.has_ended;
    return connection == NULL ? NULL : is_outer ? &connection->outer->wire : &connection->wire;
}

bool nc_tls_is_flooded(const nc_tls_connection *connection) {
    return connection != NULL && connection->is_flooded;
}

bool nc_tls_is_over(const nc_tls_connection *connection) {
    return connection != NULL && connection->tap != NULL &&
           (connection->wire.has_ended || connection->wire.has_close_notify || nc_h2_tap_has_failed(connection->tap));
}

bool nc_tls_is_verified(const nc_tls_connection *connection) {
    return !connection->has_sent_alert &&
           (connection->is_read_out || (connection->tls != NULL && SSL_has_pending(connection->tls) == 0));
}

void nc_tls_release(nc_tls_connection *connection) {
    if (connection != NULL && --connection->references == 0) {
        nc_tls_release(connection->outer);
        nc_h2_tap_free(connection->tap);
        nc_free(connection);
    }
}
