#include "bytes.h"

#include <stdlib.h>
#include <string.h>

void nct_bytes_deinit(nct_bytes *bytes) {
    free(bytes->data);
    *bytes = (nct_bytes){0};
}

void nct_bytes_reset(nct_bytes *bytes) {
    bytes->start = 0;
    bytes->length = 0;
}

static bool make_room(nct_bytes *bytes, size_t room) {
    if (room > SIZE_MAX / 4 - bytes->length)
        return false;
    size_t needed = bytes->length + room;
    if (bytes->start != 0 && bytes->start + needed > bytes->capacity) {
        memmove(bytes->data, bytes->data + bytes->start, bytes->length);
        bytes->start = 0;
    }
    if (bytes->start + needed <= bytes->capacity)
        return true;
    size_t capacity = bytes->capacity < 256 ? 256 : bytes->capacity * 2;
    if (capacity < needed)
        capacity = needed;
    uint8_t *data = realloc(bytes->data, capacity);
    if (data == NULL)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

bool nct_bytes_append(nct_bytes *bytes, const void *data, size_t length) {
    if (length == 0)
        return true;
    if (!make_room(bytes, length))
        return false;
    memcpy(bytes->data + bytes->start + bytes->length, data, length);
    bytes->length += length;
    return true;
}

bool nct_bytes_append_text(nct_bytes *bytes, const char *text) {
    return nct_bytes_append(bytes, text, strlen(text));
}

void nct_bytes_drop(nct_bytes *bytes, size_t count) {
    bytes->start += count;
    bytes->length -= count;
    if (bytes->length == 0)
        bytes->start = 0;
}
