#include "tls_frames.h"

#include <stdbool.h>
#include <string.h>

int tls_frames_find(tls_frames *frames, SSL *ssl, uint8_t type) {
    while (true) {
        while (frames->at + TLS_FRAME_HEAD_BYTES <= frames->length) {
            const uint8_t *head = frames->bytes + frames->at;
            frames->at += TLS_FRAME_HEAD_BYTES + ((size_t)head[1] << 8 | head[2]);
            if (head[3] == type) {
                return head[8];
            }
        }
        int got = SSL_read(ssl, frames->bytes + frames->length, (int)(sizeof frames->bytes - frames->length));
        if (got <= 0) {
            return -1;
        }
        frames->length += (size_t)got;
    }
}

void tls_frames_respond(SSL *ssl, int stream) {
    static const char form[] = OK_HEAD("\1") FRAME_HEAD("\2", "\0", "\1", "\1") "hi";
    char reply[sizeof form];
    memcpy(reply, form, sizeof form);
    reply[TLS_FRAME_HEAD_BYTES - 1] = (char)stream;
    reply[TLS_FRAME_HEAD_BYTES + 1 + TLS_FRAME_HEAD_BYTES - 1] = (char)stream;
    (void)SSL_write(ssl, reply, sizeof reply - 1);
}
