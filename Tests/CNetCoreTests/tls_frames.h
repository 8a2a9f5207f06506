/// Reads the HTTP/2 frames of a client in a function of a tls_peer, and sends the response.
///
///     tls_frames frames = TLS_FRAMES_INIT;
///     int stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
///     tls_frames_respond(ssl, stream);
#ifndef NETCORE_TEST_TLS_FRAMES_H
#define NETCORE_TEST_TLS_FRAMES_H

#include "tls_peer.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TLS_FRAME_DATA = 0,
    TLS_FRAME_HEADERS = 1,
    TLS_FRAME_SETTINGS = 4,
    TLS_FRAME_PING = 6,
    TLS_FRAME_HEAD_BYTES = 9
};

typedef struct tls_frames {
    uint8_t bytes[16384];
    size_t length;
    size_t at; // offset of the next frame
} tls_frames;

/// Starts after the connection preface.
#define TLS_FRAMES_INIT                                                                                                \
    { .at = 24 }

/// Moves to the next frame of a type. Returns its stream, or -1 at the end of the connection.
int tls_frames_find(tls_frames *frames, SSL *ssl, uint8_t type);
/// Sends status 200 and "hi".
void tls_frames_respond(SSL *ssl, int stream);

#endif
