/// What the decoders share: an input, a plan and how they fail.
#ifndef NETIMAGES_IMAGE_H
#define NETIMAGES_IMAGE_H

#include "netimages.h"

/// The bytes of an image, borrowed.
typedef struct image_bytes {
    const uint8_t *data;
    size_t count;
} image_bytes;

/// One decoding: an image of `stored_width` by `stored_height` becomes one of `width` by `height`, as it is stored.
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

/// Writes an error where one is wanted; returns its status.
nc_image_status image_fail(nc_image_error *err, nc_image_status status, int32_t native_code, const char *message);

/// Each reads what stands before the pictures: stored size, orientation, animation; and refuses what is cut short
/// there.
nc_image_status png_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);
nc_image_status jpeg_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);
nc_image_status webp_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err);

nc_image_status png_decode(const image_job *job);
nc_image_status jpeg_decode(const image_job *job);
nc_image_status webp_decode(const image_job *job);

/// The orientation in an EXIF block (a TIFF header and what follows); 1 where there is none that makes sense.
uint32_t exif_orientation(image_bytes block);

static inline uint32_t big_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint32_t little_32(const uint8_t *at) {
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

#endif
