/// Shared by the files of this folder. Unless noted, functions run on the client's thread.
#ifndef NETCORE_REDIS_INTERNAL_H
#define NETCORE_REDIS_INTERNAL_H

#include "pending.h"

#include <netcore/redis.h>
#include <netcore/redis_subscription.h>
#include <netcore/trust_session.h>
#include <pthread.h>
#include <stdatomic.h>

struct addrinfo;
struct redisReader;

enum {
    NC_REDIS_MAX_HOST_BYTES = 255,
    NC_REDIS_MAX_NODES = 256,
    NC_REDIS_MAX_REDIRECTS = 5,
    NC_REDIS_READ_BYTES = 16 << 10,
};

/* --- url.c --- */

/// The checked configuration with all defaults filled in.
typedef struct nc_redis_settings {
    char host[NC_REDIS_MAX_HOST_BYTES + 1]; // or the path of a Unix socket
    uint16_t port;
    bool is_unix;
    bool is_tls;
    char *user;             // NULL without one
    char *password;         // NULL without one
    nc_redis_config limits; // only its numbers are used
} nc_redis_settings;

/// Checks a configuration. The caller frees `out` with nc_redis_settings_deinit(), also after an error.
NC_NODISCARD nc_status nc_redis_settings_read(nc_redis_settings *out, const nc_redis_config *config, nc_error *err);
void nc_redis_settings_deinit(nc_redis_settings *settings);

/* --- error.c --- */

/// Fills in an error, if the caller wants one, and returns its status.
nc_status nc_redis_fail(nc_error *err, nc_status status, int32_t native_code, const char *format, ...) NC_PRINTF(4, 5);
nc_status nc_redis_succeed(nc_error *err);
uint64_t nc_redis_now_ns(void);

/* --- reply.c: replies in memory, made by hiredis's parser --- */

/// Bounds the memory of a reply while it is parsed.
typedef struct nc_redis_reply_limit {
    size_t max_bytes;
    size_t used_bytes;
    nc_status status; // why the parser stopped; NC_OK if the text is malformed
} nc_redis_reply_limit;

struct redisReader *nc_redis_reader_new(nc_redis_reply_limit *limit);
void nc_redis_reader_free(struct redisReader *reader);

/// Prepares a reply for a callback, which may take it. Then `*is_taken` becomes true.
void nc_redis_reply_lend(nc_redis_reply *reply, bool *is_taken);

/* --- node.c: a server with its connection --- */

typedef enum nc_redis_state {
    NC_REDIS_WAITING,    // until retry_at_ns
    NC_REDIS_RESOLVING,  // of the host's addresses
    NC_REDIS_CONNECTING, // TCP, or a Unix socket
    NC_REDIS_TLS,        // the TLS handshake
    NC_REDIS_GREETING,   // AUTH and SELECT
    NC_REDIS_READY,
} nc_redis_state;

typedef struct nc_redis_resolution nc_redis_resolution;

struct nc_redis_node {
    nc_redis *client;
    char host[NC_REDIS_MAX_HOST_BYTES + 1];
    uint16_t port;
    bool is_subscriber; // has the subscriptions, and no commands
    bool is_used;       // a slot or the configuration names it
    nc_redis_state state;
    int fd;
    nc_redis_resolution *resolution;
    struct addrinfo *addresses;
    const struct addrinfo *address; // the one being connected to
    nc_trust_session *tls;
    bool wants_write; // TLS has to write before it can read, or bytes are left in `out`
    bool has_unread;  // reading stopped for the sake of other connections
    bool has_replied; // since the connection was made
    bool has_tried;   // connecting to the Unix socket
    bool is_overdue;  // a command has exceeded the client's limit, and no reply has come since
    uint64_t retry_at_ns;
    uint64_t connect_until_ns;
    uint64_t received_at_ns;
    uint64_t pinged_at_ns; // of the subscriber; 0 if no PING is due
    unsigned failures;     // failed attempts since the last success
    nc_error failure;      // of the last attempt
    nc_redis_list waiting; // commands that are not in `out` yet
    nc_redis_list sent;    // commands whose replies are due, in order
    unsigned greetings;    // replies of AUTH and SELECT that are due
    uint8_t *out;          // bytes to write
    size_t out_length, out_at, out_capacity;
    struct redisReader *reader;
    nc_redis_reply_limit limit;
};

NC_NODISCARD nc_redis_node *nc_redis_node_new(nc_redis *client, const char *host, uint16_t port);
void nc_redis_node_free(nc_redis_node *node);
/// Gives the node a command, which it ends if its server cannot be reached.
void nc_redis_node_submit(nc_redis_node *node, nc_redis_pending *pending);
/// Gives the node a command of the library itself, behind all waiting ones.
NC_NODISCARD bool nc_redis_node_send_own(nc_redis_node *node, const nc_slice *words, size_t count, nc_redis_own_fn own);
/// Does what is due by time. Returns when it must be called again.
uint64_t nc_redis_node_tick(nc_redis_node *node, uint64_t now_ns);
/// Reads and writes after poll().
void nc_redis_node_handle(nc_redis_node *node, short events);
/// Writes what is waiting, as far as the socket accepts it.
void nc_redis_node_flush(nc_redis_node *node);
/// Closes the connection: ends all sent commands with `err`, and connects again.
void nc_redis_node_fail(nc_redis_node *node, const nc_error *err);

/// Ends all commands with `err`, without connecting again.
void nc_redis_node_cancel(nc_redis_node *node, const nc_error *err);

/* --- socket.c: bytes over TCP, Unix sockets and TLS --- */

/// Starts connecting to the node's next address. Returns false if none is left; `node->failure` is the reason.
NC_NODISCARD bool nc_redis_socket_connect(nc_redis_node *node);
/// Returns the status of a failed connect(2) or NC_OK.
nc_status nc_redis_socket_result(nc_redis_node *node, nc_error *err);
void nc_redis_socket_close(nc_redis_node *node);

typedef enum nc_redis_io { NC_REDIS_IO_DONE, NC_REDIS_IO_AGAIN, NC_REDIS_IO_FAILED } nc_redis_io;

nc_redis_io nc_redis_tls_shake_hands(nc_redis_node *node, nc_error *err);
nc_redis_io nc_redis_socket_write(nc_redis_node *node, const uint8_t *bytes, size_t length, size_t *done,
                                  nc_error *err);
nc_redis_io nc_redis_socket_read(nc_redis_node *node, uint8_t *bytes, size_t length, size_t *done, nc_error *err);

/* --- output.c: the bytes to write --- */

/// Appends the text of words to the buffer. Returns false if memory ran out.
NC_NODISCARD bool nc_redis_output_append(nc_redis_node *node, const char **words, int count);
/// Moves waiting commands to the buffer, and writes it as far as the socket accepts it.
nc_redis_io nc_redis_output_write(nc_redis_node *node, nc_error *err);

/* --- waker.c --- */

/// The pipe that wakes a loop. It lives until the loop and all resolutions have ended.
typedef struct nc_redis_waker {
    atomic_uint references;
    int fds[2];
} nc_redis_waker;

void nc_redis_waker_wake(nc_redis_waker *waker);
void nc_redis_waker_release(nc_redis_waker *waker);
NC_NODISCARD nc_redis_waker *nc_redis_waker_new(void);

/* --- resolve.c: getaddrinfo() on a thread of its own --- */

/// Starts resolving. When it has ended, the client's loop is woken.
NC_NODISCARD nc_redis_resolution *nc_redis_resolve(nc_redis *client, const char *host, uint16_t port);
/// Returns true if it has ended, with the addresses or an error.
bool nc_redis_resolution_take(nc_redis_resolution *resolution, struct addrinfo **addresses, int *code);
void nc_redis_resolution_free(nc_redis_resolution *resolution);

/* --- client.c --- */

/// What a node reports to the parts above it.
typedef struct nc_redis_events {
    /// The subscriber has a new connection.
    void (*connected)(nc_redis_node *node);
    /// The subscriber has lost its connection.
    void (*lost)(nc_redis *client);
    /// The subscriber received a message. Returns false if the server violates the protocol.
    bool (*receive)(nc_redis_node *node, const nc_redis_reply *reply);
    /// Handles MOVED and ASK. Returns true if the command was sent again.
    bool (*redirect)(nc_redis_node *node, nc_redis_pending *pending, const nc_redis_reply *reply);
    /// A node cannot be reached.
    void (*failed)(nc_redis *client);
} nc_redis_events;

struct nc_redis {
    const nc_redis_events *events;
    nc_redis_settings settings;
    nc_trust_context *trust; // NULL without TLS
    nc_redis_waker *waker;
    pthread_t thread;
    pthread_mutex_t lock; // guards the members down to the blank line
    nc_redis_list mailbox;
    struct nc_redis_subscription *new_subscriptions; // not on the loop's list yet
    bool is_stopping;
    bool frees_itself;
    bool is_asleep;                // senders have to wake the loop
    bool has_subscription_changes; // new or ended ones

    atomic_size_t queued_bytes;
    nc_redis_deadlines deadlines;
    nc_redis_node *nodes[NC_REDIS_MAX_NODES]; // the first one is the configured server
    size_t node_count;
    uint64_t random;
    nc_redis_node *subscriber; // NULL without subscriptions
    struct nc_redis_subscription *subscriptions;
    nc_redis_node **slots; // NC_REDIS_SLOTS nodes; NULL outside of a cluster
    uint64_t refreshed_at_ns;
    bool is_refreshing;
};

/* --- loop.c --- */

/// Runs until the client ends; then ends all commands and subscriptions.
void nc_redis_loop_run(nc_redis *client);

/* --- cluster.c --- */

/// Returns the node for a command.
nc_redis_node *nc_redis_cluster_route(nc_redis *client, uint16_t slot);
/// Handles MOVED and ASK. Returns true if the command was sent again.
NC_NODISCARD bool nc_redis_cluster_redirect(nc_redis_node *node, nc_redis_pending *pending,
                                            const nc_redis_reply *reply);
/// Frees nodes that no slot names any more.
void nc_redis_cluster_sweep(nc_redis *client);
/// Reads the slots again, because a node may be gone.
void nc_redis_cluster_refresh(nc_redis *client);

/* --- subscription.c --- */

/// Takes new and ended subscriptions over from other threads.
void nc_redis_subscriptions_update(nc_redis *client);
/// Subscribes to all channels of a new connection.
void nc_redis_subscriptions_connected(nc_redis_node *node);
/// Notifies all subscriptions of a lost connection.
void nc_redis_subscriptions_lost(nc_redis *client);
/// Delivers a message. Returns false if the server violates the protocol.
NC_NODISCARD bool nc_redis_subscriptions_receive(nc_redis_node *node, const nc_redis_reply *reply);
void nc_redis_subscriptions_end(nc_redis *client);

#endif
