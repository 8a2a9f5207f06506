#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Replies in memory. hiredis parses their text and calls the functions here to create the objects, so that a reply has
/// a limit: hiredis 0.14 would allocate an array of any announced size.
#include "internal.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

/// The object that a parser returns. Whether it is taken is stored outside: its new owner may free it on another thread
/// before the callback returns.
typedef struct root_reply {
    nc_redis_reply reply;
    bool *is_taken;
} root_reply;

/// hiredis stores the parser's user data in the root task only.
static nc_redis_reply_limit *limit_of(const redisReadTask *task) {
    while (task->parent != NULL) {
        task = task->parent;
    }
    return task->privdata;
}

static bool reserve(const redisReadTask *task, size_t bytes) {
    nc_redis_reply_limit *limit = limit_of(task);
    if (bytes > limit->max_bytes - limit->used_bytes) {
        limit->status = NC_ERR_TOO_LARGE;
        return false;
    }
    limit->used_bytes += bytes;
    return true;
}

/// Refuses what hiredis 0.14 refuses by itself and later versions accept: types of RESP3, and arrays nested without
/// limit, which free_items() could not free on its stack.
static bool is_allowed(const redisReadTask *task) {
    size_t depth = 0;
    for (const redisReadTask *parent = task->parent; parent != NULL; parent = parent->parent) {
        depth++;
    }
    return task->type <= REDIS_REPLY_ERROR && (task->type != REDIS_REPLY_ARRAY || depth < 8);
}

/// Returns the place of the next object: a new root, or an item of the parent.
static nc_redis_reply *place_of(const redisReadTask *task) {
    if (!is_allowed(task)) {
        limit_of(task)->status = NC_ERR_BAD_RESPONSE;
        return NULL;
    }
    if (task->parent != NULL) {
        nc_redis_reply *parent = task->parent->obj;
        return (nc_redis_reply *)(uintptr_t)&parent->items[task->idx];
    }
    root_reply *root = reserve(task, sizeof *root) ? calloc(1, sizeof *root) : NULL;
    if (root == NULL && limit_of(task)->status == NC_OK) {
        limit_of(task)->status = NC_ERR_NO_MEMORY;
    }
    return root != NULL ? &root->reply : NULL;
}

static void free_items(nc_redis_reply *reply) {
    free((void *)(uintptr_t)reply->bytes.data);
    for (size_t i = 0; i < reply->count; i++) {
        free_items((nc_redis_reply *)(uintptr_t)&reply->items[i]);
    }
    free((void *)(uintptr_t)reply->items);
}

static void free_root(void *reply) {
    if (reply != NULL) {
        free_items(reply);
        free(reply);
    }
}

static void *create_bytes(const redisReadTask *task, char *text, size_t length) {
    nc_redis_reply *reply = place_of(task);
    char *copy = reply != NULL && reserve(task, length + 1) ? malloc(length + 1) : NULL;
    if (copy == NULL) {
        limit_of(task)->status = limit_of(task)->status == NC_OK ? NC_ERR_NO_MEMORY : limit_of(task)->status;
        if (task->parent == NULL) {
            free_root(reply);
        }
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    reply->type = task->type == REDIS_REPLY_ERROR    ? NC_REDIS_ERROR
                  : task->type == REDIS_REPLY_STATUS ? NC_REDIS_STATUS
                                                     : NC_REDIS_STRING;
    reply->bytes = nc_slice_make(copy, length);
    return reply;
}

static void *create_array(const redisReadTask *task, array_size count) {
    nc_redis_reply *reply = place_of(task);
    size_t items = (size_t)count;
    bool is_in_limit = reply != NULL && items < SIZE_MAX / sizeof *reply && reserve(task, items * sizeof *reply);
    nc_redis_reply *children = is_in_limit && items > 0 ? calloc(items, sizeof *children) : NULL;
    if (!is_in_limit || (items > 0 && children == NULL)) {
        limit_of(task)->status = limit_of(task)->status == NC_OK ? NC_ERR_NO_MEMORY : limit_of(task)->status;
        if (task->parent == NULL) {
            free_root(reply);
        }
        return NULL;
    }
    reply->type = NC_REDIS_ARRAY;
    reply->items = children;
    reply->count = items;
    return reply;
}

static void *create_integer(const redisReadTask *task, long long value) {
    nc_redis_reply *reply = place_of(task);
    if (reply != NULL) {
        reply->type = NC_REDIS_INTEGER;
        reply->integer = value;
    }
    return reply;
}

static void *create_nil(const redisReadTask *task) {
    return place_of(task);
}

/// Creates nothing: only RESP3, which is not requested, has doubles and booleans.
#if HIREDIS_MAJOR >= 1
static void *refuse_double(const redisReadTask *task, double value, char *text, size_t length) {
    (void)task;
    (void)value;
    (void)text;
    (void)length;
    return NULL;
}

static void *refuse_bool(const redisReadTask *task, int value) {
    (void)task;
    (void)value;
    return NULL;
}
#endif

struct redisReader *nc_redis_reader_new(nc_redis_reply_limit *limit) {
    // hiredis takes a pointer without const, but does not write.
    static redisReplyObjectFunctions functions = {
        .createString = create_bytes,
        .createArray = create_array,
        .createInteger = create_integer,
        .createNil = create_nil,
        .freeObject = free_root,
#if HIREDIS_MAJOR >= 1
        .createDouble = refuse_double,
        .createBool = refuse_bool,
#endif
    };
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (reader != NULL) {
        reader->privdata = limit;
    }
    return reader;
}

void nc_redis_reader_free(struct redisReader *reader) {
    if (reader != NULL) {
        redisReaderFree(reader);
    }
}

void nc_redis_reply_lend(nc_redis_reply *reply, bool *is_taken) {
    ((root_reply *)(void *)reply)->is_taken = is_taken;
}

nc_redis_reply *nc_redis_reply_take(nc_redis_reply *reply) {
    *((root_reply *)(void *)reply)->is_taken = true;
    return reply;
}

void nc_redis_reply_free(nc_redis_reply *reply) {
    free_root(reply);
}

#endif
