#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Lua scripts: EVALSHA first, EVAL if the server does not have the script.
#include "internal.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE_BYTES = 1 << 20, SHA1_BYTES = 20 };

nc_status nc_redis_script_new(nc_redis_script **out, nc_slice source, nc_error *err) {
    uint8_t digest[SHA1_BYTES];
    *out = NULL;
    if (source.length > MAX_SOURCE_BYTES) {
        return nc_redis_fail(err, NC_ERR_TOO_LARGE, 0, "the script exceeds %d bytes", MAX_SOURCE_BYTES);
    }
    nc_redis_script *script = malloc(sizeof *script + source.length);
    if (script == NULL || EVP_Digest(source.length > 0 ? (const void *)source.data : "", source.length, digest, NULL,
                                     EVP_sha1(), NULL) != 1) {
        free(script);
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    atomic_init(&script->references, 1);
    script->length = source.length;
    for (size_t i = 0; i < SHA1_BYTES; i++) {
        (void)snprintf(script->sha1 + 2 * i, 3, "%02x", digest[i]);
    }
    if (source.length > 0) {
        memcpy(script->source, source.data, source.length);
    }
    *out = script;
    return nc_redis_succeed(err);
}

nc_redis_script *nc_redis_script_retain(nc_redis_script *script) {
    (void)atomic_fetch_add_explicit(&script->references, 1, memory_order_relaxed);
    return script;
}

void nc_redis_script_free(nc_redis_script *script) {
    if (script != NULL && atomic_fetch_sub_explicit(&script->references, 1, memory_order_acq_rel) == 1) {
        free(script);
    }
}

bool nc_redis_script_expand(nc_redis_pending *pending) {
    nc_redis_script *script = pending->script;
    const char *first_line_end = memchr(pending->text, '\n', pending->length);
    size_t first_line = (size_t)(first_line_end - pending->text) + 1;
    size_t tail = pending->length - pending->script_tail;
    size_t capacity = first_line + script->length + tail + 64;
    char *text = malloc(capacity);
    if (text == NULL) {
        return false;
    }
    memcpy(text, pending->text, first_line);
    size_t length = first_line;
    length += (size_t)snprintf(text + length, capacity - length, "$4\r\nEVAL\r\n$%zu\r\n", script->length);
    memcpy(text + length, script->source, script->length);
    length += script->length;
    memcpy(text + length, "\r\n", 2);
    length += 2;
    memcpy(text + length, pending->text + pending->script_tail, tail);
    free(pending->text);
    pending->text = text;
    pending->length = length + tail;
    pending->script = NULL; // EVAL is not answered by NOSCRIPT.
    nc_redis_script_free(script);
    return true;
}

#endif
