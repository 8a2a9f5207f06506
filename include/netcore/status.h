/// Status codes, their names and texts, and the details of an error.
///
/// The number of a status shows its kind: usage 1-19, resources 20-39, format 40-79, trust 80-99, network 100-149,
/// control 150-199, cache 250. Functions return their status. They never pass it by errno, a global or a thread-local
/// variable. Details are written to the caller's nc_error.
///
///     nc_error err;
///     if (nc_engine_submit(engine, &request, NULL, &id, &err) != NC_OK)
///         fprintf(stderr, "%s: %s\n", nc_status_name(err.status), err.message);
#ifndef NETCORE_STATUS_H
#define NETCORE_STATUS_H

#include <netcore/base.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The table of all statuses: X(name, number, text).
#define NC_STATUS_MAP(X)                                                                                               \
    X(NC_OK, 0, "success")                                                                                             \
    X(NC_ERR_USAGE, 1, "an argument is missing or out of range")                                                       \
    X(NC_ERR_BAD_URL, 2, "the URL is malformed")                                                                       \
    X(NC_ERR_BAD_METHOD, 3, "the method is not a token")                                                               \
    X(NC_ERR_BAD_HEADER, 4, "a header name or value contains a forbidden character")                                   \
    X(NC_ERR_BAD_SCHEME, 5, "the URL's scheme is not http or https")                                                   \
    X(NC_ERR_UNSUPPORTED, 6, "an underlying library (libcurl, OpenSSL, zlib) does not support this")                   \
    X(NC_ERR_CLOSED, 7, "the engine is closed")                                                                        \
    X(NC_ERR_BODY_LENGTH, 8, "the length of the request body differs from the announced length")                       \
    X(NC_ERR_NOT_REWINDABLE, 9, "the request body cannot be sent again")                                               \
    X(NC_ERR_BAD_PARAMETER, 10, "a parameter cannot be encoded")                                                       \
    X(NC_ERR_BAD_PART, 11, "a part of the multipart body cannot be sent")                                              \
    X(NC_ERR_BAD_PIN, 12, "a pin or a host pattern is malformed")                                                      \
    X(NC_ERR_BAD_SHAPE, 13, "the shape or schema document is invalid")                                                 \
    X(NC_ERR_NO_MEMORY, 20, "memory ran out")                                                                          \
    X(NC_ERR_TOO_LARGE, 21, "a size limit was exceeded")                                                               \
    X(NC_ERR_FILE, 22, "a file operation failed")                                                                      \
    X(NC_ERR_DESCRIPTORS, 23, "the process ran out of file descriptors")                                               \
    X(NC_ERR_THREAD, 24, "a thread could not be started")                                                              \
    X(NC_ERR_QUEUE_FULL, 25, "the queue of bytes to send is full")                                                     \
    X(NC_ERR_BAD_RESPONSE, 40, "the server's response is not valid HTTP")                                              \
    X(NC_ERR_BAD_CODING, 41, "the body's content coding is damaged or unknown")                                        \
    X(NC_ERR_HEAD_TOO_LARGE, 42, "the response head is larger than its limit")                                         \
    X(NC_ERR_BODY_TOO_LARGE, 43, "the response body is larger than its limit")                                         \
    X(NC_ERR_BAD_REDIRECT, 44, "a redirect has no usable Location")                                                    \
    X(NC_ERR_BAD_CHARSET, 45, "the text is not valid in its charset, or the charset is unknown")                       \
    X(NC_ERR_BAD_JSON, 46, "the text is not valid JSON")                                                               \
    X(NC_ERR_SHAPE_MISMATCH, 47, "the JSON does not match the expected shape or schema")                               \
    X(NC_ERR_DIGEST_MISMATCH, 48, "the file does not have the expected digest")                                        \
    X(NC_ERR_BAD_RANGE, 49, "the server sent a range of the file that was not requested")                              \
    X(NC_ERR_BAD_STATUS, 50, "the response status is not a success, so no file was saved")                             \
    X(NC_ERR_UPGRADE_REFUSED, 51, "the server refused the WebSocket handshake")                                        \
    X(NC_ERR_BAD_UPGRADE, 52, "the server's WebSocket handshake is invalid")                                           \
    X(NC_ERR_BAD_FRAME, 53, "a WebSocket frame violates the protocol")                                                 \
    X(NC_ERR_BAD_TEXT, 54, "a WebSocket text is not valid UTF-8")                                                      \
    X(NC_ERR_BAD_DEFLATE, 55, "a compressed WebSocket message is damaged")                                             \
    X(NC_ERR_MESSAGE_TOO_LARGE, 56, "a WebSocket message is larger than its limit")                                    \
    X(NC_ERR_FRAME_FLOOD, 57, "the server sent too many useless WebSocket frames")                                     \
    X(NC_ERR_TLS_HANDSHAKE, 80, "the TLS handshake failed")                                                            \
    X(NC_ERR_TLS_UNTRUSTED, 81, "no trusted authority signed the certificate")                                         \
    X(NC_ERR_TLS_EXPIRED, 82, "the certificate has expired")                                                           \
    X(NC_ERR_TLS_NOT_YET_VALID, 83, "the certificate is not valid yet")                                                \
    X(NC_ERR_TLS_NAME, 84, "the certificate is for another host name")                                                 \
    X(NC_ERR_TLS_CERTIFICATE, 85, "the certificate was rejected")                                                      \
    X(NC_ERR_TLS_ROOTS, 86, "the trusted authorities could not be read")                                               \
    X(NC_ERR_TLS_BACKEND, 87, "this libcurl has no OpenSSL backend")                                                   \
    X(NC_ERR_TLS_IDENTITY, 88, "the client certificate or its key cannot be used")                                     \
    X(NC_ERR_AUTHENTICATION, 89, "authentication failed")                                                              \
    X(NC_ERR_PIN_MISMATCH, 90, "no certificate of the chain matches a pin")                                            \
    X(NC_ERR_PLAINTEXT_REFUSED, 91, "the policy refuses plain http to this host: use https")                           \
    X(NC_ERR_TLS_REVOKED, 92, "the certificate was revoked")                                                           \
    X(NC_ERR_TLS_STAPLE, 93, "the server did not prove that its certificate is valid (OCSP)")                          \
    X(NC_ERR_RESOLVE, 100, "the host name could not be resolved")                                                      \
    X(NC_ERR_CONNECT, 101, "the connection could not be made")                                                         \
    X(NC_ERR_REFUSED, 102, "the connection was refused")                                                               \
    X(NC_ERR_UNREACHABLE, 103, "the host cannot be reached")                                                           \
    X(NC_ERR_RESET, 104, "the connection was reset")                                                                   \
    X(NC_ERR_CUT_SHORT, 105, "the body is incomplete")                                                                 \
    X(NC_ERR_EMPTY_REPLY, 106, "the server closed the connection without a response")                                  \
    X(NC_ERR_SEND, 107, "sending failed")                                                                              \
    X(NC_ERR_RECEIVE, 108, "receiving failed")                                                                         \
    X(NC_ERR_HTTP2, 109, "the HTTP/2 connection or stream failed")                                                     \
    X(NC_ERR_PROXY, 110, "the proxy could not be used")                                                                \
    X(NC_ERR_HTTP3, 111, "the HTTP/3 connection or stream failed")                                                     \
    X(NC_ERR_CONNECT_TIMED_OUT, 120, "connecting took longer than its limit (limits.connect_ms)")                      \
    X(NC_ERR_FIRST_BYTE_TIMED_OUT, 121, "the first byte took longer than its limit (limits.first_byte_ms)")            \
    X(NC_ERR_IDLE_TIMED_OUT, 122, "no bytes were transferred within the idle limit (limits.idle_ms)")                  \
    X(NC_ERR_TOTAL_TIMED_OUT, 123, "the transfer took longer than its limit (limits.total_ms)")                        \
    X(NC_ERR_SLOT_TIMED_OUT, 124, "no connection slot became free within the limit (limits.slot_ms)")                  \
    X(NC_ERR_PEER_TIMED_OUT, 125, "the WebSocket peer sent nothing within its limit (peer_timeout_ms)")                \
    X(NC_ERR_CANCELLED, 150, "the transfer was cancelled")                                                             \
    X(NC_ERR_STOPPED_BY_CALLER, 151, "a callback stopped the transfer")                                                \
    X(NC_ERR_TOO_MANY_REDIRECTS, 152, "there were more redirects than the limit (limits.max_redirects)")               \
    X(NC_ERR_REDIRECT_REFUSED, 153, "the policy refuses this redirect")                                                \
    X(NC_ERR_WAIT_TIMED_OUT, 154, "the wait timed out while the work was still running")                               \
    X(NC_ERR_BODY_SOURCE, 155, "the source of the request body failed")                                                \
    X(NC_ERR_INTERNAL, 199, "an internal invariant failed; please report it")                                          \
    X(NC_ERR_NOT_CACHED, 250, "the request may only use the cache, and no stored response is usable")

/// The result of a call. NC_STATUS_MAP has the texts.
typedef NC_ENUM(nc_status){
#define NC_STATUS_ENUM(name, number, sentence) name = number,
    NC_STATUS_MAP(NC_STATUS_ENUM)
#undef NC_STATUS_ENUM
} nc_status;

/// The size of an error message, including NUL.
#define NC_ERROR_MESSAGE_BYTES 256

/// Details of an error, in the caller's storage. Nothing has to be freed.
typedef struct nc_error {
    /// The same value that the call returned.
    nc_status status;
    /// The number of the layer below: a CURLcode, an errno, an X509_V_ERR_ code, or with NC_ERR_BAD_STATUS the HTTP
    /// status. 0 if there is none.
    int32_t native_code;
    /// Offset of the wrong byte in the input; -1 if there is none.
    int64_t offset;
    /// One line, starting in lower case, without a final period and without secrets. If the message is longer than the
    /// array, its middle is cut out.
    char message[NC_ERROR_MESSAGE_BYTES];
} nc_error;

/// Returns the C name of a status, such as "NC_ERR_RESOLVE".
///
/// Returns a static string; "NC_ERR_INTERNAL" for a number that is not in the table.
/// Pure; call from any thread.
NC_API const char *nc_status_name(nc_status status);

/// Returns the text of a status, such as "the host name could not be resolved".
///
/// Returns a static string; the text of NC_ERR_INTERNAL for a number that is not in the table.
/// Pure; call from any thread.
NC_API const char *nc_status_text(nc_status status);

/// Returns true if the same request, sent again unchanged, may succeed.
///
/// True for transient network errors and time limits; false for usage, trust, format and control. The caller decides
/// whether a retry is *safe*, that is, whether the request is idempotent.
/// Pure; call from any thread.
NC_API bool nc_status_is_retryable(nc_status status);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
