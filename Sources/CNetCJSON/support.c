#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// Errors, and the allocator that cJSON uses.
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

nc_status nc_cjson_fail(nc_error *err, nc_status status, int64_t offset, const char *format, ...) {
    if (err != NULL) {
        *err = (nc_error){.status = status, .offset = offset};
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* --- the allocator: cJSON's hooks have no context, so it is kept here --- */

static nc_allocator current;

static void *allocate(size_t bytes) {
    return current.allocate(current.ctx, bytes == 0 ? 1 : bytes);
}

static void release(void *block) {
    current.release(current.ctx, block);
}

void nc_cjson_set_allocator(const nc_allocator *allocator) {
    if (allocator == NULL) {
        cJSON_InitHooks(NULL);
        return;
    }
    current = *allocator;
    cJSON_Hooks hooks = {.malloc_fn = allocate, .free_fn = release};
    cJSON_InitHooks(&hooks);
}
#endif
