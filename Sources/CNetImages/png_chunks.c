#include "image.h"

#include <string.h>

enum { SIGNATURE_BYTES = 8, CHUNK_BYTES = 12, HEADER_BYTES = 13 };

nc_image_status png_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err) {
    const uint8_t *at = input.data + SIGNATURE_BYTES;
    size_t left = input.count - SIGNATURE_BYTES;
    bool is_first = true;
    // Skips to the last chunk. Without it, the image is truncated.
    while (left >= CHUNK_BYTES) {
        size_t length = big_32(at);
        const uint8_t *type = at + 4;
        if (length > left - CHUNK_BYTES) {
            break;
        }
        if (is_first != (memcmp(type, "IHDR", 4) == 0) || (is_first && length != HEADER_BYTES)) {
            return image_fail(err, NC_IMAGE_MALFORMED, 0, "the PNG does not begin with a single IHDR chunk");
        }
        if (is_first) {
            out->stored_width = big_32(at + 8);
            out->stored_height = big_32(at + 12);
        } else if (memcmp(type, "eXIf", 4) == 0) {
            out->orientation = exif_orientation((image_bytes){at + 8, length});
        } else if (memcmp(type, "acTL", 4) == 0) {
            out->is_animated = true;
        } else if (memcmp(type, "IEND", 4) == 0) {
            return NC_IMAGE_OK;
        }
        is_first = false;
        at += length + CHUNK_BYTES;
        left -= length + CHUNK_BYTES;
    }
    return image_fail(err, NC_IMAGE_MALFORMED, 0, "the PNG is incomplete");
}
