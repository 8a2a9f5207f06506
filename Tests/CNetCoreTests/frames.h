/// An HTTP/2 server, with or without TLS, that sends a row of frames (RFC 9113) on each connection.
///
/// It waits for the request. At a PING of the row it waits for the acknowledgement, which shows that the client has
/// read the frames before it. Frames between two PINGs are sent in one write. After its last frame the server sends
/// nothing. It waits for the client to close the connection before it accepts the next.
///
///     static const frame row[] = {HEADERS(OK_OF_2), PING, LAST_DATA("hi"), {0}};
///     frame_server server = {.rows = {row}};
///     frame_server_start(&server);     // at http(s)://127.0.0.1:<server.port>/
///     frame_server_stop(&server);
#ifndef NETCORE_TEST_FRAMES_H
#define NETCORE_TEST_FRAMES_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_RESET = 3,
    FRAME_SETTINGS = 4,
    FRAME_PING = 6,
    FRAME_GOAWAY = 7,
    FRAME_MORE_HEADERS = 9, // CONTINUATION
};
enum { FRAME_END_STREAM = 1, FRAME_ACK = 1, FRAME_END_HEADERS = 4 };

/// A frame that the server sends. A frame without a payload ends a row.
typedef struct frame {
    uint8_t type;
    uint8_t flags;
    const char *payload;
    uint16_t length;
} frame;

#define OK_OF_2 "\x88\x0f\x0d\x01\x32" // :status: 200, content-length: 2
#define OK_OF_3 "\x88\x0f\x0d\x01\x33"
#define OK_OPEN "\x88"
// trailer: x-sum, content-length: 2 (and 3)
#define TOLD_OF_2 "\x88\x00\x07trailer\x05x-sum\x0f\x0d\x01\x32"
#define TOLD_OF_3 "\x88\x00\x07trailer\x05x-sum\x0f\x0d\x01\x33"
#define NO_CONTENT "\x89" // :status: 204
#define TOO_LARGE                                                                                                      \
    "\x08\x03"                                                                                                         \
    "413" // :status: 413
#define TOO_LARGE_OF_2 TOO_LARGE "\x0f\x0d\x01\x32"
#define TRAILER "\x00\x05x-sum\x01\x31"
#define FRAME(type, flags, payload)                                                                                    \
    { (type), (flags), (payload), sizeof(payload) - 1 }
#define HEADERS(payload) FRAME(FRAME_HEADERS, FRAME_END_HEADERS, payload)
#define LAST_HEADERS(payload) FRAME(FRAME_HEADERS, FRAME_END_HEADERS | FRAME_END_STREAM, payload)
#define DATA(payload) FRAME(FRAME_DATA, 0, payload)
#define LAST_DATA(payload) FRAME(FRAME_DATA, FRAME_END_STREAM, payload)
#define RESET(code) FRAME(FRAME_RESET, 0, "\0\0\0" code)
#define PING FRAME(FRAME_PING, 0, "12345678")
/// GOAWAY with the last stream that the server may have processed, and the error code.
#define GOAWAY(last, code) FRAME(FRAME_GOAWAY, 0, "\0\0\0" last "\0\0\0" code)

/// The action on the connection after a row.
typedef enum frame_ending {
    FRAME_WAITS = 0, // until the client closes it
    FRAME_FIN,
    FRAME_RST,
    FRAME_SILENCE,
} frame_ending;

enum { FRAME_ROWS = 8 };

typedef struct frame_server {
    const frame *rows[FRAME_ROWS]; // one per connection, up to the first NULL
    size_t upload_bytes;           // the row begins after more bytes of the request body than this; 0: after its head
    frame_ending ending;
    size_t cut_after; // unless FRAME_WAITS: only so many bytes of the row are sent, and it must not contain a PING
    bool is_secure;   // over TLS, with a self-signed certificate
    uint16_t port;    // out
    int listener;
    SSL_CTX *context;
    pthread_t thread;
    atomic_int connections[FRAME_ROWS]; // -1 before they are accepted
    atomic_uint served;                 // connections whose row was sent completely
    atomic_bool was_reset;              // the client has reset a stream after the last frame
} frame_server;

/// Listens on a port that the kernel chooses, and serves on its own thread.
void frame_server_start(frame_server *server);
/// Returns true if a response head has no Content-Length. Such a response needs TLS: over cleartext HTTP/2 the engine
/// cannot see where its body ends, and reports an error.
bool frame_is_open(const frame *head);
/// Closes connections that the client keeps open. Then `served` and `was_reset` are final.
void frame_server_stop(frame_server *server);

#endif
