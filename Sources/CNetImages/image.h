/// State that the decoders share: input, plan and failures.
#ifndef NETIMAGES_IMAGE_H
#define NETIMAGES_IMAGE_H

#include "netimages.h"

/// The bytes of an image, borrowed.
typedef struct image_bytes {
    const uint8_t *data;
    size_t count;
} image_bytes;

/// One decoding: an image of `stored_width` by `stored_height` becomes one of `width` by `height`, before orientation.
typedef struct image_job {
    image_bytes input;
    uint32_t stored_width;
    uint32_t stored_height;
    uint32_t width;
    uint32_t height;
    uint8_t *pixels;
    size_t max_bytes;
    nc_image_error *err;
} image_job;

/// Writes an error if `err` is not NULL. Returns its status.
nc_image_status image_fail(nc_image_error *err, nc_image_status status, int32_t native_code, const char *message);

/// Each decoder's inspection finds the stored size, the orientation and whether the image is animated, without decoding
/// pixels. It rejects an input whose headers are truncated, and a PNG without its last chunk.
nc_image_status png_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);
nc_image_status jpeg_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);
nc_image_status webp_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);

nc_image_status png_decode(const image_job *job);
nc_image_status jpeg_decode(const image_job *job);
nc_image_status webp_decode(const image_job *job);

/// Returns the orientation in an EXIF block (a TIFF header and what follows), or 1 if there is no valid one.
uint32_t exif_orientation(image_bytes block);

static inline uint32_t big_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint32_t little_32(const uint8_t *at) {
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

#endif
