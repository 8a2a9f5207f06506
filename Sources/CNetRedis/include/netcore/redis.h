/// A client of Redis and Valkey: commands in pipelines, Lua scripts, subscriptions, clusters.
///
/// This library is libnetcore_redis; libnetcore does not need hiredis. hiredis formats commands and parses replies
/// (RESP2). This library implements sockets, TLS, time limits and reconnecting; TLS follows a trust policy of
/// <netcore/trust.h>. Each client has one thread with all of its connections, and calls all callbacks there.
///
/// - A command ends exactly once: with a reply, or with a status. A late reply is discarded, never given to another
///   command.
/// - Commands of one client that go to the same server are sent in the order of their nc_redis_send() calls.
/// - A lost connection is made again immediately. After each failed attempt the wait doubles, from min_backoff_ms to
///   max_backoff_ms; up to half of it is left out at random. Until an attempt succeeds, commands fail immediately with
///   the status of the last one. Commands that are sent while the first attempt runs wait for it, within their limit.
/// - A command that was sent is never sent again, unless the server refused it (MOVED, ASK, NOSCRIPT).
/// - When a command has exceeded the client's time limit, further commands fail immediately with
///   NC_ERR_TOTAL_TIMED_OUT until the server replies again, so that a slow server delays a caller with several commands
///   only once. Commands with a limit of their own are sent.
/// - Commands that change the shared connection or its replies are refused: SELECT, AUTH, HELLO, SUBSCRIBE, MULTI,
///   WATCH, MONITOR and the like. Use a script instead of MULTI.
/// - A blocking command (BLPOP) delays all commands behind it.
/// - Memory comes from malloc, because hiredis 0.14 cannot use another allocator.
///
///     nc_redis_config config = {.url = nc_slice_of("redis://127.0.0.1:6379")};
///     nc_slice words[] = {nc_slice_of("GET"), nc_slice_of("greeting")};
///     if (nc_redis_open(&client, &config, &err) == NC_OK &&
///         nc_redis_call(client, &(nc_redis_command){.arguments = words, .count = 2}, &reply, &err) == NC_OK)
///         printf("%.*s\n", (int)reply->bytes.length, (const char *)reply->bytes.data);
#ifndef NETCORE_REDIS_H
#define NETCORE_REDIS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A client; nc_redis_open() creates one.
typedef struct nc_redis nc_redis;

/// Whether MOVED and ASK are followed.
typedef NC_ENUM(nc_redis_cluster){
    /// The first MOVED reply turns the cluster mode on, which reads the slots of all nodes. ASK is followed too.
    NC_REDIS_CLUSTER_AUTO = 0,
    /// MOVED and ASK are error replies like others.
    NC_REDIS_CLUSTER_OFF = 1,
} nc_redis_cluster;

/// Options of a client; a number of 0 selects its default. All texts are copied.
typedef struct nc_redis_config {
    /// redis://[user[:password]@]host[:port][/database], rediss:// (TLS), or unix:///path[?db=database]. User and
    /// password are percent-decoded. "redis://:secret@host" has a password only. The port is 6379 by default, also for
    /// rediss. All addresses of the host are tried in turn.
    nc_slice url;
    /// User of the ACL; takes precedence over the URL's.
    nc_slice user;
    /// Password; takes precedence over the URL's. Never part of an error message.
    nc_slice password;
    /// Index of the database, 0 to 1048576; takes precedence over the URL's if it is not 0. Each connection selects it.
    /// If the server does not have it, commands fail with NC_ERR_BAD_RESPONSE. A cluster has only database 0.
    uint32_t database;
    /// Time limit to connect, with name resolution, TLS and authentication, in milliseconds; 1000 by default. No time
    /// limit may exceed 24 hours.
    uint32_t connect_timeout_ms;
    /// Time limit of a command from nc_redis_send() to its reply, in milliseconds; 50 by default. Redirections and the
    /// wait for a connection are part of it.
    uint32_t command_timeout_ms;
    /// A connection that has received nothing for this time after the limit of its oldest command is closed; in
    /// milliseconds, 1000 by default. A subscription that has received nothing for ten times as long sends a PING.
    uint32_t silence_timeout_ms;
    /// Shortest wait before a second attempt to connect, in milliseconds; 50 by default.
    uint32_t min_backoff_ms;
    /// Longest wait between attempts, in milliseconds; 5000 by default.
    uint32_t max_backoff_ms;
    /// Maximum size of all commands that have no reply yet, also of those that timed out; 64 MiB by default, at most
    /// 1 GiB.
    size_t max_queued_bytes;
    /// Maximum size of one reply in memory; 64 MiB by default, at most 1 GiB.
    size_t max_reply_bytes;
    /// Policy for rediss; retained. NULL is the default policy: the system's authorities. In a cluster it applies to
    /// each node, under the name or address that the cluster announces. Other schemes must not have a policy.
    nc_trust *NC_NULLABLE trust;
    /// Whether the server may be a node of a cluster.
    nc_redis_cluster cluster;
} nc_redis_config;

/// Opens a client: starts its thread, which connects. An unreachable server is not an error of this call.
///
/// - out: owned by the caller; end it with nc_redis_close() or nc_redis_release(). NULL after an error.
/// Returns NC_OK; NC_ERR_BAD_URL; NC_ERR_BAD_SCHEME; NC_ERR_USAGE (a number out of range); NC_ERR_PLAINTEXT_REFUSED (a
/// policy without rediss); NC_ERR_TLS_ROOTS or NC_ERR_TLS_IDENTITY (a file of the policy, which this call reads);
/// NC_ERR_THREAD; NC_ERR_DESCRIPTORS; NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_redis_open(nc_redis *NC_NULLABLE *NC_NONNULL out, const nc_redis_config *config,
                                            nc_error *NC_NULLABLE err);

/// Ends the client and waits for its thread. All commands end with NC_ERR_CANCELLED, all subscriptions end.
///
/// Not from a callback of the client, which would wait for itself: use nc_redis_release() there. NULL is allowed.
/// Thread-safe, but must be the last call with this client.
NC_API void nc_redis_close(nc_redis *NC_NULLABLE client);

/// As nc_redis_close(), but does not wait: the last callbacks may come after it has returned.
///
/// Thread-safe, also from a callback, but must be the last call with this client.
NC_API void nc_redis_release(nc_redis *NC_NULLABLE client);

/* --- replies --- */

/// The type of a reply.
typedef NC_ENUM(nc_redis_type){
    /// A value that does not exist; also a null array.
    NC_REDIS_NIL = 0,
    /// A status such as "OK", in `bytes`.
    NC_REDIS_STATUS = 1,
    /// An error of the server such as "WRONGTYPE …", in `bytes`.
    NC_REDIS_ERROR = 2,
    /// An integer.
    NC_REDIS_INTEGER = 3,
    /// Bytes.
    NC_REDIS_STRING = 4,
    /// An array, in `items`.
    NC_REDIS_ARRAY = 5,
} nc_redis_type;

/// A reply, or an item of one. An item is freed together with its reply.
typedef struct nc_redis_reply {
    /// Type, which selects the field.
    nc_redis_type type;
    /// Value of an integer; otherwise 0.
    int64_t integer;
    /// Text of a status, an error or a string, followed by a NUL that is not counted.
    nc_slice bytes;
    /// Items of an array.
    const struct nc_redis_reply *NC_NULLABLE items;
    /// Number of items.
    size_t count;
} nc_redis_reply;

/// Keeps a reply after its callback. The caller frees it with nc_redis_reply_free().
///
/// - reply: the parameter of nc_redis_reply_fn, during the callback. Returns the same pointer.
/// Not thread-safe: only in the callback.
NC_API nc_redis_reply *nc_redis_reply_take(nc_redis_reply *reply);

/// Frees a reply that was taken or returned. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_redis_reply_free(nc_redis_reply *NC_NULLABLE reply);

/* --- commands --- */

/// Receives the result of a command, exactly once, on the client's thread. It must not block.
///
/// - reply: valid during the call unless nc_redis_reply_take() takes it; NULL if err->status is not NC_OK.
/// - err:   NC_OK if there is a reply, also an error reply of the server. Otherwise NC_ERR_TOTAL_TIMED_OUT (the limit
///          of the command, which may still be executed); NC_ERR_RESET (the connection was lost after the command was
///          sent, which may have been executed); the reason why there is no connection (NC_ERR_REFUSED,
///          NC_ERR_UNREACHABLE, NC_ERR_RESOLVE, NC_ERR_CONNECT, NC_ERR_CONNECT_TIMED_OUT, NC_ERR_AUTHENTICATION, a
///          status of TLS); NC_ERR_BAD_RESPONSE (the server violates the protocol); NC_ERR_TOO_LARGE (the reply exceeds
///          its limit); NC_ERR_CANCELLED; NC_ERR_NO_MEMORY.
typedef void (*nc_redis_reply_fn)(void *NC_NULLABLE ctx, nc_redis_reply *NC_NULLABLE reply, const nc_error *err);

/// A command.
typedef struct nc_redis_command {
    /// Its words, the name first; copied. NULL if there are none.
    const nc_slice *NC_NULLABLE arguments;
    /// Number of words: 1 to 65536; also 0 for nc_redis_eval().
    size_t count;
    /// Time limit in milliseconds; 0 is the client's. At its end the command ends with NC_ERR_TOTAL_TIMED_OUT.
    uint32_t timeout_ms;
    /// Position of the first key, which selects the node of a cluster; 0 is the usual one: 3 for EVAL, EVALSHA and
    /// FCALL, otherwise 1.
    uint32_t key_index;
    /// Receives the result; NULL ignores it. nc_redis_call() does not use it.
    nc_redis_reply_fn NC_NULLABLE on_reply;
    /// Passed to `on_reply`. Owned by the caller; must stay valid until then.
    void *NC_NULLABLE ctx;
} nc_redis_command;

/// Sends a command without waiting for its reply.
///
/// If it returns an error, `on_reply` is not called.
/// Returns NC_OK, NC_ERR_USAGE (no words, or a refused command), NC_ERR_QUEUE_FULL (max_queued_bytes),
/// NC_ERR_NO_MEMORY. Thread-safe, also from a callback.
NC_API NC_NODISCARD nc_status nc_redis_send(nc_redis *client, const nc_redis_command *command,
                                            nc_error *NC_NULLABLE err);

/// Sends a command and waits for its end.
///
/// - out: the caller frees it with nc_redis_reply_free(). NULL after an error.
/// Returns NC_OK, also for an error reply of the server; the statuses of nc_redis_send() and nc_redis_reply_fn;
/// NC_ERR_USAGE in a callback of the client. Thread-safe.
NC_API NC_NODISCARD nc_status nc_redis_call(nc_redis *client, const nc_redis_command *command,
                                            nc_redis_reply *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Returns the slot of a key in a cluster, 0 to 16383. Only the text in the first "{…}" counts, if it is not empty.
///
/// Thread-safe.
NC_API uint16_t nc_redis_slot_of(nc_slice key);

/* --- scripts --- */

/// A Lua script with its SHA-1, for any number of clients.
typedef struct nc_redis_script nc_redis_script;

/// Creates a script. `source` is copied, at most 1 MiB.
///
/// - out: owned by the caller; free it with nc_redis_script_free(). NULL after an error.
/// Returns NC_OK, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_redis_script_new(nc_redis_script *NC_NULLABLE *NC_NONNULL out, nc_slice source,
                                                  nc_error *NC_NULLABLE err);

/// Frees a script. Commands in flight keep it. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_redis_script_free(nc_redis_script *NC_NULLABLE script);

/// Sends EVALSHA, and EVAL if the server does not have the script yet.
///
/// - command:   its words are the keys, then the arguments; `count` may be 0. `key_index` is not used.
/// - key_count: number of keys; more than `count` is NC_ERR_USAGE.
/// Returns the statuses of nc_redis_send(). Thread-safe, also from a callback.
NC_API NC_NODISCARD nc_status nc_redis_eval(nc_redis *client, nc_redis_script *script, const nc_redis_command *command,
                                            size_t key_count, nc_error *NC_NULLABLE err);

/// Sends a script as nc_redis_eval() does, and waits as nc_redis_call() does.
///
/// Returns the statuses of nc_redis_call(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_redis_eval_call(nc_redis *client, nc_redis_script *script,
                                                 const nc_redis_command *command, size_t key_count,
                                                 nc_redis_reply *NC_NULLABLE *NC_NONNULL out,
                                                 nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
