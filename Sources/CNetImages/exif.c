#include "image.h"

#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY_BYTES = 12, HEADER_BYTES = 8 };

static uint32_t number_16(const uint8_t *at, bool is_big) {
    return is_big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

uint32_t exif_orientation(image_bytes block) {
    if (block.count < HEADER_BYTES) {
        return 1;
    }
    bool is_big = memcmp(block.data, "MM\0*", 4) == 0;
    if (!is_big && memcmp(block.data, "II*\0", 4) != 0) {
        return 1;
    }
    size_t directory = is_big ? big_32(block.data + 4) : little_32(block.data + 4);
    if (directory > block.count || block.count - directory < 2) {
        return 1;
    }
    size_t entries = number_16(block.data + directory, is_big);
    size_t room = (block.count - directory - 2) / ENTRY_BYTES;
    for (size_t i = 0; i < entries && i < room; i++) {
        const uint8_t *entry = block.data + directory + 2 + i * ENTRY_BYTES;
        if (number_16(entry, is_big) == TAG_ORIENTATION && number_16(entry + 2, is_big) == TYPE_SHORT) {
            uint32_t value = number_16(entry + 8, is_big);
            return value >= 1 && value <= 8 ? value : 1;
        }
    }
    return 1;
}
