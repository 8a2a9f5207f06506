#include "proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Numbers of RFC 1928 and RFC 1929.
#define VERSION 5
#define LOGIN_VERSION 1
#define METHOD_NONE 0
#define METHOD_LOGIN 2
#define METHOD_REFUSED 0xFF
#define COMMAND_CONNECT 1
#define TYPE_IPV4 1
#define TYPE_NAME 3
#define TYPE_IPV6 4
#define REPLY_GRANTED 0
#define REPLY_FAILURE 1
#define REPLY_REFUSED 5
#define REPLY_NO_COMMAND 7
#define REPLY_NO_TYPE 8

/// Chooses the authentication method, and sends it. Returns false if the client cannot be served.
static bool choose_method(nct_relay *relay, uint8_t wanted) {
    if (!nct_relay_read_at_least(relay, 2))
        return false;
    size_t count = nct_bytes_first(&relay->in)[1];
    if (nct_bytes_first(&relay->in)[0] != VERSION || !nct_relay_read_at_least(relay, 2 + count))
        return false;
    bool is_offered = memchr(nct_bytes_first(&relay->in) + 2, wanted, count) != NULL;
    nct_bytes_drop(&relay->in, 2 + count);
    const uint8_t answer[] = {VERSION, is_offered ? wanted : METHOD_REFUSED};
    return nct_bytes_append(&relay->to_client, answer, sizeof answer) && is_offered;
}

static bool check_login(nct_relay *relay, const nct_bytes *expected) {
    if (!nct_relay_read_at_least(relay, 2))
        return false;
    size_t user_length = nct_bytes_first(&relay->in)[1];
    if (!nct_relay_read_at_least(relay, 2 + user_length + 1))
        return false;
    size_t length = 2 + user_length + 1 + nct_bytes_first(&relay->in)[2 + user_length];
    if (!nct_relay_read_at_least(relay, length))
        return false;
    const uint8_t *shown = nct_bytes_first(&relay->in);
    bool is_right = shown[0] == LOGIN_VERSION && length - 1 == expected->length &&
                    memcmp(shown + 1, nct_bytes_first(expected), length - 1) == 0;
    nct_bytes_drop(&relay->in, length);
    const uint8_t answer[] = {LOGIN_VERSION, is_right ? 0 : 1};
    return nct_bytes_append(&relay->to_client, answer, sizeof answer) && is_right;
}

/// Waits for a complete request. Returns its length, or 0 if there is none.
static size_t await_request(nct_relay *relay) {
    if (!nct_relay_read_at_least(relay, 5))
        return 0;
    const uint8_t *bytes = nct_bytes_first(&relay->in);
    size_t address_length = 4;
    if (bytes[3] == TYPE_NAME)
        address_length = 1 + (size_t)bytes[4];
    if (bytes[3] == TYPE_IPV6)
        address_length = 16;
    size_t length = 4 + address_length + 2;
    return nct_relay_read_at_least(relay, length) ? length : 0;
}

/// Connects to the request's target. Returns the reply code.
static uint8_t grant(nct_proxy_session *session, const uint8_t *request, size_t length) {
    nct_proxy *proxy = session->proxy;
    char address[sizeof "255.255.255.255"];
    const char *host = address;
    uint16_t port = (uint16_t)(request[length - 2] << 8 | request[length - 1]);
    if (request[3] == TYPE_NAME)
        nct_record_add(&proxy->record, NCT_COUNT_NAMES, 1);
    if (proxy->socks_reply != 0)
        return proxy->socks_reply;
    if (request[0] != VERSION || request[1] != COMMAND_CONNECT)
        return REPLY_NO_COMMAND;
    size_t host_length = 0;
    if (request[3] == TYPE_NAME) {
        host = (const char *)request + 5;
        host_length = request[4];
    } else if (request[3] == TYPE_IPV4) {
        host_length = (size_t)snprintf(address, sizeof address, "%u.%u.%u.%u", (unsigned)request[4],
                                       (unsigned)request[5], (unsigned)request[6], (unsigned)request[7]);
    } else if (request[3] != TYPE_IPV6) {
        return REPLY_NO_TYPE;
    }
    int failure = nct_relay_connect(&session->relay, host, host_length, port);
    if (failure != 0)
        return failure == ECONNREFUSED ? REPLY_REFUSED : REPLY_FAILURE;
    nct_record_add(&proxy->record, NCT_COUNT_TUNNELS, 1);
    return REPLY_GRANTED;
}

void nct_proxy_serve_socks(nct_proxy_session *session) {
    nct_proxy *proxy = session->proxy;
    nct_relay *relay = &session->relay;
    bool has_login = proxy->login.length != 0;
    if (!choose_method(relay, has_login ? METHOD_LOGIN : METHOD_NONE) ||
        (has_login && !check_login(relay, &proxy->login)))
        return;
    size_t length = await_request(relay);
    nct_bytes request = {0};
    if (length == 0 || !nct_bytes_append(&request, nct_bytes_first(&relay->in), length))
        return;
    nct_bytes_drop(&relay->in, length);
    nct_record_request(&proxy->record, session->number, &request, length);
    uint8_t answer[] = {VERSION, grant(session, nct_bytes_first(&request), length), 0, TYPE_IPV4, 127, 0, 0, 1, 0, 0};
    nct_bytes_deinit(&request);
    if (nct_bytes_append(&relay->to_client, answer, sizeof answer) && answer[1] == REPLY_GRANTED)
        nct_relay_run(relay);
}
