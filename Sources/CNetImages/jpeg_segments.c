#include "image.h"

#include <string.h>

enum {
    MARKER_SOF0 = 0xC0,
    MARKER_DHT = 0xC4,
    MARKER_JPG = 0xC8,
    MARKER_DAC = 0xCC,
    MARKER_SOF15 = 0xCF,
    MARKER_RST0 = 0xD0,
    MARKER_SOI = 0xD8,
    MARKER_EOI = 0xD9,
    MARKER_SOS = 0xDA,
    MARKER_APP1 = 0xE1,
    MARKER_TEM = 0x01,
    FRAME_BYTES = 6,
    EXIF_BYTES = 6,
    /// A progressive picture has about ten.
    MAX_SCANS = 200,
};

/// Scans times pixels: each scan may touch every pixel, even with little data.
static const uint64_t max_scanned_pixels = 1u << 30;

static bool is_frame(uint8_t marker) {
    return marker >= MARKER_SOF0 && marker <= MARKER_SOF15 && marker != MARKER_DHT && marker != MARKER_JPG &&
           marker != MARKER_DAC;
}

static bool stands_alone(uint8_t marker) {
    return marker == MARKER_TEM || (marker >= MARKER_RST0 && marker <= MARKER_SOI);
}

/// Finds the next marker, after scan data or padding. Returns NULL if there is none.
static const uint8_t *next_marker(const uint8_t *at, const uint8_t *end) {
    while (at < end && (at = memchr(at, 0xFF, (size_t)(end - at))) != NULL) {
        while (at < end && *at == 0xFF) {
            at++;
        }
        if (at < end && *at != 0 && !(*at >= MARKER_RST0 && *at < MARKER_SOI)) {
            return at;
        }
    }
    return NULL;
}

/// Reads a segment's content, after its length.
static void take_segment(nc_image_plan *plan, uint8_t marker, image_bytes segment) {
    if (is_frame(marker) && segment.count >= FRAME_BYTES && plan->stored_width == 0) {
        plan->stored_height = (uint32_t)segment.data[1] << 8 | segment.data[2];
        plan->stored_width = (uint32_t)segment.data[3] << 8 | segment.data[4];
    } else if (marker == MARKER_APP1 && segment.count > EXIF_BYTES && plan->orientation == 1 &&
               memcmp(segment.data, "Exif\0\0", EXIF_BYTES) == 0) {
        plan->orientation = exif_orientation((image_bytes){segment.data + EXIF_BYTES, segment.count - EXIF_BYTES});
    }
}

static nc_image_status check_scans(const nc_image_plan *plan, uint64_t scans, nc_image_error *err) {
    uint64_t pixels = (uint64_t)plan->stored_width * plan->stored_height;
    // The image's size alone bounds one scan.
    if (scans > MAX_SCANS || (scans > 1 && scans * pixels > max_scanned_pixels)) {
        return image_fail(err, NC_IMAGE_TOO_LARGE, 0, "the JPEG has too many scans for its size");
    }
    return NC_IMAGE_OK;
}

nc_image_status jpeg_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err) {
    const uint8_t *end = input.data + input.count;
    const uint8_t *at = input.data + 2;
    uint64_t scans = 0;
    while ((at = next_marker(at, end)) != NULL) {
        uint8_t marker = *at++;
        if (stands_alone(marker)) {
            continue;
        }
        if (marker == MARKER_EOI) {
            break;
        }
        if (end - at < 2) {
            return image_fail(err, NC_IMAGE_MALFORMED, 0, "the JPEG is incomplete");
        }
        size_t length = (size_t)at[0] << 8 | at[1];
        if (length < 2 || length > (size_t)(end - at)) {
            return image_fail(err, NC_IMAGE_MALFORMED, 0, "the JPEG is incomplete");
        }
        take_segment(out, marker, (image_bytes){at + 2, length - 2});
        scans += marker == MARKER_SOS;
        at += length;
    }
    if (out->stored_width == 0 || scans == 0) {
        return image_fail(err, NC_IMAGE_MALFORMED, 0, "the JPEG contains no image");
    }
    return check_scans(out, scans, err);
}
