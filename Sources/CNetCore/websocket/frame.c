#include "websocket/frame.h"

#include <string.h>

enum { KEY_BYTES = 4, IS_FINAL = 0x80, IS_COMPRESSED = 0x40, IS_MASKED = 0x80, LENGTH_16 = 126, LENGTH_64 = 127 };

static bool take_key(uint8_t key[KEY_BYTES], nc_ws_keys *keys, const nc_random *random) {
    if (keys->left == 0) {
        if (!random->fill(random->ctx, keys->bytes, sizeof keys->bytes)) {
            return false;
        }
        keys->left = sizeof keys->bytes;
    }
    keys->left = (uint8_t)(keys->left - KEY_BYTES);
    memcpy(key, keys->bytes + keys->left, KEY_BYTES);
    return true;
}

static size_t write_length(uint8_t *out, uint64_t length) {
    size_t count = length < LENGTH_16 ? 0 : length <= UINT16_MAX ? 2 : 8;
    out[0] = (uint8_t)(IS_MASKED | (count == 0 ? (uint8_t)length : count == 2 ? LENGTH_16 : LENGTH_64));
    for (size_t i = 0; i < count; i++) {
        out[1 + i] = (uint8_t)(length >> (8 * (count - 1 - i)));
    }
    return 1 + count;
}

static void mask(uint8_t *out, nc_slice from, const uint8_t key[KEY_BYTES]) {
    uint64_t wide;
    size_t at = 0;
    memcpy(&wide, key, KEY_BYTES);
    memcpy((uint8_t *)&wide + KEY_BYTES, key, KEY_BYTES);
    for (; from.length - at >= sizeof wide; at += sizeof wide) {
        uint64_t word;
        memcpy(&word, from.data + at, sizeof word);
        word ^= wide;
        memcpy(out + at, &word, sizeof word);
    }
    for (; at < from.length; at++) {
        out[at] = from.data[at] ^ key[at % KEY_BYTES];
    }
}

bool nc_ws_frame_append(nc_buf *out, nc_ws_frame frame, nc_slice payload, nc_ws_keys *keys, const nc_random *random) {
    uint8_t head[NC_WS_MAX_HEAD_BYTES];
    uint8_t key[KEY_BYTES];
    if (!take_key(key, keys, random)) {
        return false;
    }
    head[0] = (uint8_t)(frame.opcode | (frame.is_final ? IS_FINAL : 0) | (frame.is_compressed ? IS_COMPRESSED : 0));
    size_t length = 1 + write_length(head + 1, payload.length);
    memcpy(head + length, key, KEY_BYTES);
    length += KEY_BYTES;
    if (payload.length > SIZE_MAX - length || nc_buf_reserve(out, length + payload.length) != NC_OK) {
        out->status = out->status == NC_OK ? NC_ERR_TOO_LARGE : out->status;
        return true;
    }
    nc_buf_append(out, nc_slice_make(head, length));
    mask(out->data + out->length, payload, key);
    out->length += payload.length;
    return true;
}

bool nc_ws_close_code_is_valid(uint16_t code) {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}
