#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The slot of a key in a cluster: CRC-16 (XMODEM) of its hash tag, modulo 16384.
#include "internal.h"

#include <string.h>

static uint16_t crc16(nc_slice bytes) {
    static const uint16_t table[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
    };
    uint16_t crc = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        crc = (uint16_t)(crc << 4) ^ table[(crc >> 12) ^ (bytes.data[i] >> 4)];
        crc = (uint16_t)(crc << 4) ^ table[(crc >> 12) ^ (bytes.data[i] & 15)];
    }
    return crc;
}

uint16_t nc_redis_slot_of(nc_slice key) {
    const uint8_t *open = key.length > 0 ? memchr(key.data, '{', key.length) : NULL;
    if (open != NULL) {
        size_t rest = key.length - (size_t)(open + 1 - key.data);
        const uint8_t *close = memchr(open + 1, '}', rest);
        if (close != NULL && close > open + 1) {
            key = nc_slice_make(open + 1, (size_t)(close - open - 1));
        }
    }
    return crc16(key) % NC_REDIS_SLOTS;
}

#endif
