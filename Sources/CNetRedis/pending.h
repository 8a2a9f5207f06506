/// Commands on their way, their lists, and the heap of their deadlines. Unless noted, functions run on the client's
/// thread.
#ifndef NETCORE_REDIS_PENDING_H
#define NETCORE_REDIS_PENDING_H

#include <netcore/redis.h>
#include <stdatomic.h>

enum { NC_REDIS_SLOTS = 16384, NC_REDIS_MAX_WORDS = 65536, NC_REDIS_SHA1_DIGITS = 40 };

/* --- pending.c --- */

typedef struct nc_redis_pending nc_redis_pending;
typedef struct nc_redis_node nc_redis_node;

/// A handler of the library itself, for replies that no caller receives. `reply` is NULL if the command failed.
typedef void (*nc_redis_own_fn)(nc_redis_node *node, nc_redis_reply *reply, const nc_error *err);

/// A command on its way: in the mailbox, waiting for a connection, or sent.
struct nc_redis_pending {
    nc_redis_pending *next;
    nc_redis_pending *previous;
    nc_redis_reply_fn on_reply; // NULL once it was called
    void *ctx;
    nc_redis_own_fn own;     // instead of on_reply
    nc_redis_script *script; // NULL if it is no EVALSHA
    size_t script_tail;      // position of the words after the SHA-1
    char *text;              // of hiredis, or of malloc
    size_t length;
    size_t charged_bytes; // part of the client's queued bytes
    uint64_t deadline_ns;
    size_t heap_index; // position in the heap of deadlines, from 1; 0 if it is not there
    nc_redis_node *node;
    uint16_t slot; // NC_REDIS_SLOTS for a command without key
    uint8_t redirects;
    bool is_sent;       // some of its bytes may have been written
    bool has_own_limit; // not the client's
};

/// A list of commands.
typedef struct nc_redis_list {
    nc_redis_pending *first;
    nc_redis_pending *last;
    size_t count;
} nc_redis_list;

void nc_redis_list_append(nc_redis_list *list, nc_redis_pending *pending);
void nc_redis_list_remove(nc_redis_list *list, nc_redis_pending *pending);

/// Formats a command. Any thread.
NC_NODISCARD nc_status nc_redis_pending_new(nc_redis_pending **out, const nc_redis_command *command, size_t max_bytes,
                                            nc_error *err);
void nc_redis_pending_free(nc_redis_pending *pending);
/// Returns why a command may not be sent on a shared connection, or NULL. Any thread.
const char *nc_redis_refusal_of(nc_slice name);
/// Calls the handler of a command with its end. Frees the reply unless it is taken.
void nc_redis_pending_deliver(nc_redis_pending *pending, nc_redis_reply *reply, const nc_error *err);

/// Ends a command that is in no list: removes its deadline, calls its handler and frees it.
void nc_redis_finish(nc_redis *client, nc_redis_pending *pending, nc_redis_reply *reply, const nc_error *err);

/* --- script.c --- */

struct nc_redis_script {
    atomic_uint references;
    char sha1[NC_REDIS_SHA1_DIGITS + 1];
    size_t length;
    uint8_t source[];
};

nc_redis_script *nc_redis_script_retain(nc_redis_script *script);
/// Changes an EVALSHA into an EVAL. Returns false if memory ran out.
NC_NODISCARD bool nc_redis_script_expand(nc_redis_pending *pending);

/* --- deadlines.c: a heap --- */

typedef struct nc_redis_deadlines {
    nc_redis_pending **items;
    size_t count;
    size_t capacity;
} nc_redis_deadlines;

NC_NODISCARD bool nc_redis_deadlines_add(nc_redis_deadlines *heap, nc_redis_pending *pending);
void nc_redis_deadlines_remove(nc_redis_deadlines *heap, nc_redis_pending *pending);

#endif
