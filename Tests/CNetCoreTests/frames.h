/// A server of HTTP/2, in the clear or over TLS, that is a row of frames (RFC 9113) for each connection it gets.
///
/// It waits for the request, and where a row says so for the reply to a PING, by which the client shows that it has
/// read all that came before. What stands between two PINGs comes in one piece. After its last frame the server sends
/// no more; it waits for the client to close the connection before it takes the next.
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

/// What the server sends, in order; a row of them ends with one without a payload.
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
/// The last stream that the server may have acted on, and why it goes.
#define GOAWAY(last, code) FRAME(FRAME_GOAWAY, 0, "\0\0\0" last "\0\0\0" code)

/// What becomes of the connection behind a row.
typedef enum frame_ending {
    FRAME_WAITS = 0, // for the client to close it
    FRAME_FIN,
    FRAME_RST,
    FRAME_SILENCE,
} frame_ending;

enum { FRAME_ROWS = 8 };

typedef struct frame_server {
    const frame *rows[FRAME_ROWS]; // one for each connection, up to the first NULL
    size_t upload_bytes;           // the replies begin when more than this much of a body has come; 0 with the head
    frame_ending ending;
    size_t cut_after; // of a row's bytes, but for FRAME_WAITS; such a row has no PING
    bool is_secure;   // over TLS, with a certificate that nobody has signed
    uint16_t port;    // out
    int listener;
    SSL_CTX *context;
    pthread_t thread;
    atomic_int connections[FRAME_ROWS]; // -1 before they come
    atomic_uint served;                 // connections whose row was sent to its end
    atomic_bool was_reset;              // whether the client has reset a stream after the last frame
} frame_server;

/// Listens on a port that the kernel chooses and serves in a thread of its own.
void frame_server_start(frame_server *server);
/// Whether the head of an answer leaves the length of its body open. In the clear such a body is an error.
bool frame_is_open(const frame *head);
/// Ends what the client may keep open for another request. `served` and `was_reset` are final after it.
void frame_server_stop(frame_server *server);

#endif
