/* The reference: a loop over a connection of libcurl (CURLOPT_CONNECT_ONLY), with frames of its own. Like the engine,
 * it masks each frame with a random key, reads frames that arrive in pieces, and sends when the callback of a message
 * does.
 *
 * usage: bench-websocket-raw PORT ECHOES IN-FLIGHT */
#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PAYLOAD = 64, HEAD = 2, KEY = 4, FRAME = HEAD + KEY + PAYLOAD, KEYS = 64, BUFFER = 16384 };

static CURL *easy;
static curl_socket_t fd;
static uint8_t keys[KEYS];
static size_t key_at = KEYS;

static void wait_for(short events) {
    struct pollfd one = {.fd = fd, .events = events};
    (void)poll(&one, 1, -1);
}

static void send_all(const void *bytes, size_t length) {
    for (size_t at = 0, sent = 0; at < length; at += sent, sent = 0) {
        CURLcode code = curl_easy_send(easy, (const char *)bytes + at, length - at, &sent);
        if (code == CURLE_AGAIN) {
            wait_for(POLLOUT);
        } else if (code != CURLE_OK) {
            exit(1);
        }
    }
}

static void send_message(const uint8_t *payload) {
    uint8_t frame[FRAME] = {0x82, 0x80 | PAYLOAD};
    if (key_at == KEYS) {
        key_at = getrandom(keys, sizeof keys, 0) == KEYS ? 0 : (exit(1), 0);
    }
    memcpy(frame + HEAD, keys + key_at, KEY);
    for (size_t i = 0; i < PAYLOAD; i++) {
        frame[HEAD + KEY + i] = payload[i] ^ keys[key_at + i % KEY];
    }
    key_at += KEY;
    send_all(frame, sizeof frame);
}

static size_t receive(uint8_t *buffer, size_t capacity) {
    size_t got = 0;
    CURLcode code = curl_easy_recv(easy, buffer, capacity, &got);
    while (code == CURLE_AGAIN) {
        wait_for(POLLIN);
        code = curl_easy_recv(easy, buffer, capacity, &got);
    }
    if (code != CURLE_OK || got == 0) {
        exit(1);
    }
    return got;
}

static void upgrade(unsigned port) {
    char url[64];
    uint8_t reply[BUFFER] = {0};
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    if (curl_easy_perform(easy) != CURLE_OK || curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK) {
        exit(1);
    }
    send_all(request, sizeof request - 1);
    (void)receive(reply, sizeof reply - 1);
    if (strstr((const char *)reply, " 101 ") == NULL) {
        exit(1);
    }
}

int main(int argc, char **argv) {
    static uint8_t buffer[BUFFER];
    uint64_t echoes = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t in_flight = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    uint64_t sent = 0;
    size_t length = 0;
    easy = curl_easy_init();
    if (echoes == 0 || in_flight == 0 || easy == NULL) {
        return 2;
    }
    upgrade((unsigned)strtoul(argv[1], NULL, 10));
    for (; sent < in_flight && sent < echoes; sent++) {
        send_message(buffer);
    }
    for (uint64_t received = 0; received < echoes;) {
        size_t at = 0;
        length += receive(buffer + length, sizeof buffer - length);
        for (; length - at >= HEAD + PAYLOAD && received < echoes; at += HEAD + PAYLOAD, received++) {
            if (buffer[at] != 0x82 || buffer[at + 1] != PAYLOAD) {
                return 1;
            }
            if (sent < echoes) {
                send_message(buffer + at + HEAD);
                sent++;
            }
        }
        length -= at;
        memmove(buffer, buffer + at, length);
    }
    curl_easy_cleanup(easy);
    return 0;
}
