#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The bytes that a connection has to write.
#include "internal.h"

#include <hiredis/hiredis.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_BYTES = 64 << 10 };

static bool reserve_out(nc_redis_node *node, size_t more) {
    if (node->out_at > 0) {
        memmove(node->out, node->out + node->out_at, node->out_length - node->out_at);
        node->out_length -= node->out_at;
        node->out_at = 0;
    }
    if (more > node->out_capacity - node->out_length) {
        size_t capacity = node->out_length + more > OUT_BYTES ? node->out_length + more : OUT_BYTES;
        uint8_t *out = realloc(node->out, capacity);
        if (out == NULL) {
            return false;
        }
        node->out = out;
        node->out_capacity = capacity;
    }
    return true;
}

static bool append_out(nc_redis_node *node, const char *text, size_t length) {
    if (!reserve_out(node, length)) {
        return false;
    }
    memcpy(node->out + node->out_length, text, length);
    node->out_length += length;
    return true;
}

bool nc_redis_output_append(nc_redis_node *node, const char **words, int count) {
    char *text = NULL;
    long long length = redisFormatCommandArgv(&text, count, words, NULL);
    bool is_appended = length > 0 && append_out(node, text, (size_t)length);
    if (length > 0) {
        OPENSSL_cleanse(text, (size_t)length);
        free(text);
    }
    return is_appended;
}

/// Moves commands into the buffer. Those of a subscriber have no reply of their own.
static bool fill_out(nc_redis_node *node) {
    while (node->waiting.first != NULL && node->out_length - node->out_at < OUT_BYTES) {
        nc_redis_pending *pending = node->waiting.first;
        if (!append_out(node, pending->text, pending->length)) {
            return false;
        }
        nc_redis_list_remove(&node->waiting, pending);
        if (node->is_subscriber) {
            nc_redis_pending_free(pending);
            continue;
        }
        pending->is_sent = true;
        nc_redis_list_append(&node->sent, pending);
    }
    return true;
}

nc_redis_io nc_redis_output_write(nc_redis_node *node, nc_error *err) {
    nc_redis_io result = NC_REDIS_IO_DONE;
    node->wants_write = false;
    while (result == NC_REDIS_IO_DONE) {
        size_t done = 0;
        if (node->state == NC_REDIS_READY && !fill_out(node)) {
            (void)nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
            return NC_REDIS_IO_FAILED;
        }
        size_t left = node->out_length - node->out_at;
        if (left == 0) {
            node->out_at = node->out_length = 0;
            return NC_REDIS_IO_DONE;
        }
        result = nc_redis_socket_write(node, node->out + node->out_at, left, &done, err);
        node->out_at += done;
    }
    node->wants_write = result == NC_REDIS_IO_AGAIN;
    return result;
}

#endif
