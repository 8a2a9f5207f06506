/// WebSockets of which each allocation fails in turn, and that are cancelled at every trace point and by every
/// function: no crash, hang, leak, second end or false success.
///
/// The allocations of the library and of libcurl fail. OpenSSL's never fail here.
#include "socket_server.h"
#include "torture.h"

#include <netcore/websocket.h>
#include <stdio.h>
#include <string.h>

enum { LARGE_BYTES = 30000, CLOSE_MS = 10000, MAX_EVENTS = 2000, MAX_STATUS = 200, SENT_MESSAGES = 4 };

/// The kinds of connections.
typedef struct way {
    const char *name;
    bool has_tls;
    bool is_compressed;
    bool is_through_proxy;
    bool delivers_pieces;
} way;

static const way ways[] = {
    {.name = "plain"},
    {.name = "compressed", .is_compressed = true},
    {.name = "TLS through a proxy", .has_tls = true, .is_through_proxy = true, .delivers_pieces = true},
};

enum { WAY_COUNT = sizeof ways / sizeof *ways };

/// One socket, from its opening to its end.
typedef struct exchange {
    const way *way;
    uint64_t cancels_at; // a trace point, counted from 1; 0: never
    nc_engine *_Atomic engine;
    atomic_uint_fast64_t event_count;
    _Atomic nc_trace_point cancelled_at;
    // Recorded.
    atomic_uint ends;
    atomic_uint opens;
    nc_status status;
    uint16_t close_code;
    uint64_t received;
    unsigned messages;
    bool is_damaged;
    torture_gate ended;
} exchange;

static size_t ended_with[MAX_STATUS];
static uint8_t large[LARGE_BYTES];

static nc_slice message(unsigned index) {
    return index == 0 ? nc_slice_of("h\xc3\xa9llo") : index == 1 ? nc_slice_of("") : nc_slice_make(large, sizeof large);
}

/* --- callbacks --- */

static void on_open(void *ctx, nc_socket *socket, const nc_response *response) {
    (void)socket;
    (void)response;
    atomic_fetch_add(&((exchange *)ctx)->opens, 1);
}

static nc_action on_message(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    exchange *one = ctx;
    nc_slice expected = message(one->messages);
    bool fits = bytes.length <= expected.length - one->received;
    one->is_damaged |= !fits || kind != (one->messages < 2 ? NC_SOCKET_TEXT : NC_SOCKET_BINARY) ||
                       (bytes.length > 0 && memcmp(bytes.data, expected.data + one->received, bytes.length) != 0);
    one->received += bytes.length;
    if (!is_last) {
        return NC_ACTION_CONTINUE;
    }
    one->is_damaged |= one->received != expected.length;
    one->received = 0;
    one->messages++;
    if (one->messages == 2) {
        nc_socket_resume(socket);
        return NC_ACTION_PAUSE;
    }
    return NC_ACTION_CONTINUE;
}

static void on_end(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    exchange *one = ctx;
    (void)socket;
    one->status = end->error->status;
    one->close_code = end->close_code;
    atomic_fetch_add(&one->ends, 1);
    torture_gate_open(&one->ended);
}

static void cancel_at_event(void *ctx, nc_trace_point point, nc_transfer_id id) {
    exchange *one = ctx;
    nc_engine *engine = atomic_load(&one->engine);
    // Until nc_engine_new() returns, there is nothing to cancel.
    if (id != 0 && engine != NULL && atomic_fetch_add(&one->event_count, 1) + 1 == one->cancels_at) {
        one->cancelled_at = point;
        nc_engine_cancel(engine, id);
    }
}

/* --- one run --- */

/// Sends everything and closes. What is queued before the handshake is complete is sent after it.
static void converse(nc_socket *socket) {
    bool is_sent = true;
    for (unsigned i = 0; i < SENT_MESSAGES && is_sent; i++) {
        nc_socket_kind kind = i < 2 ? NC_SOCKET_TEXT : NC_SOCKET_BINARY;
        nc_slice bytes = message(i);
        nc_slice head = nc_slice_make(bytes.data, bytes.length / 2);
        nc_slice tail = nc_slice_make(bytes.data + head.length, bytes.length - head.length);
        is_sent = nc_socket_send(socket, kind, head, false, NULL) == NC_OK &&
                  nc_socket_ping(socket, nc_slice_of("there?"), NULL) == NC_OK &&
                  nc_socket_send(socket, kind, tail, true, NULL) == NC_OK;
    }
    nc_status status = nc_socket_close(socket, 1000, nc_slice_of("done"), NULL);
    // After another error the socket has ended, or ends.
    assert_true(status == NC_OK || status == NC_ERR_CLOSED || status == NC_ERR_NO_MEMORY);
}

/// Opens a socket. Returns false if it was refused, for lack of memory.
static bool open_socket(exchange *one, nc_engine *engine, uint16_t port, nct_proxy *proxy, nc_trust *trust) {
    char url[64];
    char through[64];
    nc_socket *socket = NULL;
    (void)snprintf(url, sizeof url, "%s://127.0.0.1:%u/", one->way->has_tls ? "wss" : "ws", port);
    (void)snprintf(through, sizeof through, "http://127.0.0.1:%u", proxy != NULL ? nct_proxy_port(proxy) : 0);
    const nc_proxy chosen = {.choice = NC_PROXY_URL, .url = nc_slice_of(through)};
    const nc_request request = {.url = nc_slice_of(url), .trust = trust, .proxy = proxy != NULL ? &chosen : NULL};
    const nc_slice protocol = nc_slice_of("chat");
    const nc_socket_options options = {.offers_compression = one->way->is_compressed,
                                       .delivers_pieces = one->way->delivers_pieces,
                                       .protocols = &protocol,
                                       .protocol_count = 1};
    const nc_socket_sink sink = {.ctx = one, .on_open = on_open, .on_message = on_message, .on_end = on_end};
    nc_status status = nc_socket_open(&socket, engine, &request, &options, &sink, NULL);
    if (status != NC_OK) {
        assert_status(status, NC_ERR_NO_MEMORY);
        return false;
    }
    converse(socket);
    nc_socket_release(socket);
    return true;
}

static void check_end(const exchange *one) {
    ended_with[one->status]++;
    if (one->ends != 1 || one->opens > 1 || one->is_damaged) {
        fail_msg("%s: %u ends, %u openings, a damaged message: %d", one->way->name, one->ends, one->opens,
                 one->is_damaged);
    }
    if (one->status == NC_OK && (one->messages != SENT_MESSAGES || one->close_code != 1000)) {
        fail_msg("%s: a success with %u messages and close code %u", one->way->name, one->messages, one->close_code);
    }
    if (one->status == NC_ERR_PEER_TIMED_OUT ||
        (one->status >= NC_ERR_CONNECT_TIMED_OUT && one->status <= NC_ERR_SLOT_TIMED_OUT)) {
        fail_msg("%s: ended with %s", one->way->name, nc_status_name(one->status));
    }
}

static void run(exchange *one) {
    nct_proxy *proxy = NULL;
    nc_trust *trust = NULL;
    nc_engine *engine = NULL;
    socket_server server = {.serve = socket_peer_echo,
                            .has_tls = one->way->has_tls,
                            .fields =
                                one->way->is_compressed ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : NULL};
    const nc_trust_options trusting = {.accepts_anything = true};
    const nc_engine_options options = {.trace = {one, cancel_at_event}};
    if (nc_trust_new(&trust, &trusting, NULL) != NC_OK) {
        return;
    }
    assert_int_equal(
        one->way->is_through_proxy ? nct_proxy_start(&proxy, &(nct_proxy_options){.kind = NCT_PROXY_HTTP}) : 0, 0);
    socket_server_start(&server);
    if (nc_engine_new(&engine, &options, NULL) == NC_OK) {
        atomic_store(&one->engine, engine);
        bool is_open = open_socket(one, engine, server.port, proxy, trust);
        if (is_open && !torture_gate_wait(&one->ended)) {
            fail_msg("%s: hangs after a failure or a cancel at event %llu (%s)", one->way->name,
                     (unsigned long long)one->cancels_at, nc_trace_name(one->cancelled_at));
        }
        assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
        if (is_open) {
            check_end(one);
        }
    }
    socket_server_stop(&server);
    if (proxy != NULL) {
        nct_proxy_stop(proxy);
    }
    nc_trust_release(trust);
}

static exchange exchange_on(const way *on, uint64_t cancels_at) {
    return (exchange){.way = on, .cancels_at = cancels_at, .cancelled_at = NC_TRACE_COUNT, .ended = TORTURE_GATE_INIT};
}

static void report(const char *name, uint64_t count, uint64_t began_ms) {
    print_message("%s: %llu, %llu ms;", name, (unsigned long long)count,
                  (unsigned long long)(torture_now_ms() - began_ms));
    for (size_t i = 0; i < MAX_STATUS; i++) {
        if (ended_with[i] != 0) {
            print_message(" %zu %s", ended_with[i], nc_status_name((nc_status)i));
        }
    }
    print_message("\n");
}

/* --- cases --- */

static void run_case(void *ctx) {
    exchange one = exchange_on(ctx, 0);
    run(&one);
}

static void socket__survives_any_failing_allocation(void **state) {
    uint64_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 1);
    (void)state;
    for (size_t i = 0; i < rounds * WAY_COUNT; i++) {
        way chosen = ways[i % WAY_COUNT];
        uint64_t began_ms = torture_now_ms();
        memset(ended_with, 0, sizeof ended_with);
        run_case(&chosen);
        assert_int_equal(ended_with[NC_OK], 1);
        uint64_t points = each_allocation_failure(run_case, &chosen);
        assert_true(points > 50);
        report(chosen.name, points, began_ms);
    }
}

static void socket__a_cancel_at_any_trace_point_ends_it_once(void **state) {
    uint64_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 1);
    (void)state;
    for (size_t i = 0; i < rounds * WAY_COUNT; i++) {
        uint64_t began_ms = torture_now_ms();
        uint64_t at = 0;
        bool is_past_end = false;
        memset(ended_with, 0, sizeof ended_with);
        while (!is_past_end && at < MAX_EVENTS) {
            exchange one = exchange_on(&ways[i % WAY_COUNT], ++at);
            run(&one);
            is_past_end = atomic_load(&one.event_count) < at;
            if (one.status != NC_OK) {
                assert_status(one.status, NC_ERR_CANCELLED);
            }
        }
        assert_true(is_past_end && at > 10 && ended_with[NC_ERR_CANCELLED] > 5);
        report(ways[i % WAY_COUNT].name, at, began_ms);
    }
}

int main(void) {
    harness_begin();
    harness_use_curl_allocator();
    for (size_t i = 0; i < LARGE_BYTES; i++) {
        large[i] = (uint8_t)torture_mix(i, 1);
    }
    const struct CMUnitTest cases[] = {
        harness_case(socket__survives_any_failing_allocation),
        harness_case(socket__a_cancel_at_any_trace_point_ends_it_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
