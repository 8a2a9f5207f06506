#if defined(NETKIT_IMAGES) || !defined(SWIFT_PACKAGE)
#include "image.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

enum { HEAD_BYTES = 12, CHUNK_BYTES = 8, FRAME_BYTES = 16, EXTENDED_BYTES = 10, CHANNELS = 4, LOSSLESS = 2 };

/// A chunk of a RIFF file.
typedef struct chunk {
    const uint8_t *type;
    image_bytes content;
} chunk;

/// Takes the next chunk from the front. Returns false if there is no complete one.
static bool take_chunk(chunk *out, image_bytes *rest) {
    if (rest->count < CHUNK_BYTES) {
        return false;
    }
    size_t length = little_32(rest->data + 4);
    if (length > rest->count - CHUNK_BYTES) {
        return false;
    }
    *out = (chunk){rest->data, {rest->data + CHUNK_BYTES, length}};
    // Chunks begin at even offsets.
    size_t whole = CHUNK_BYTES + length + (length & 1);
    whole = whole < rest->count ? whole : rest->count;
    rest->data += whole;
    rest->count -= whole;
    return true;
}

static bool is_of(const chunk *found, const char *type) {
    return memcmp(found->type, type, 4) == 0;
}

static uint32_t little_24(const uint8_t *at) {
    return (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/// Finds an animation's first frame. Returns false if it has none.
static bool find_frame(chunk *out, image_bytes input) {
    image_bytes rest = {input.data + HEAD_BYTES, input.count - HEAD_BYTES};
    while (take_chunk(out, &rest)) {
        if (is_of(out, "ANMF")) {
            return out->content.count > FRAME_BYTES;
        }
    }
    return false;
}

static uint32_t find_orientation(image_bytes input) {
    image_bytes rest = {input.data + HEAD_BYTES, input.count - HEAD_BYTES};
    chunk found;
    while (take_chunk(&found, &rest)) {
        if (is_of(&found, "EXIF")) {
            image_bytes block = found.content;
            // Some encoders write the prefix that JPEG has before the TIFF header.
            if (block.count > 6 && memcmp(block.data, "Exif\0\0", 6) == 0) {
                block = (image_bytes){block.data + 6, block.count - 6};
            }
            return exif_orientation(block);
        }
    }
    return 1;
}

static nc_image_status fail(nc_image_error *err, VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return image_fail(err, NC_IMAGE_NO_MEMORY, (int32_t)code, "memory ran out");
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return image_fail(err, NC_IMAGE_MALFORMED, (int32_t)code, "the WebP is incomplete");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return image_fail(err, NC_IMAGE_UNSUPPORTED, (int32_t)code, "this kind of WebP is not supported");
    default:
        return image_fail(err, NC_IMAGE_MALFORMED, (int32_t)code, "the WebP is damaged");
    }
}

nc_image_status webp_inspect(nc_image_plan *out, image_bytes input, nc_image_error *err) {
    WebPBitstreamFeatures features;
    VP8StatusCode code = WebPGetFeatures(input.data, input.count, &features);
    if (code != VP8_STATUS_OK || features.width <= 0 || features.height <= 0) {
        return fail(err, code == VP8_STATUS_OK ? VP8_STATUS_BITSTREAM_ERROR : code);
    }
    out->stored_width = (uint32_t)features.width;
    out->stored_height = (uint32_t)features.height;
    out->is_animated = features.has_animation != 0;
    out->orientation = find_orientation(input);
    return NC_IMAGE_OK;
}

/// Makes a still picture from an animation's first frame, which must cover the whole canvas.
static nc_image_status make_still(image_bytes *out, uint8_t **owned, const image_job *job) {
    chunk frame;
    if (!find_frame(&frame, job->input)) {
        return fail(job->err, VP8_STATUS_NOT_ENOUGH_DATA);
    }
    const uint8_t *head = frame.content.data;
    if (little_24(head) != 0 || little_24(head + 3) != 0 || little_24(head + 6) + 1 != job->stored_width ||
        little_24(head + 9) + 1 != job->stored_height) {
        return image_fail(job->err, NC_IMAGE_UNSUPPORTED, 0,
                          "the first frame of the WebP does not cover the whole image");
    }
    size_t picture = frame.content.count - FRAME_BYTES;
    size_t count = HEAD_BYTES + CHUNK_BYTES + EXTENDED_BYTES + picture;
    uint8_t *still = calloc(count, 1);
    if (still == NULL) {
        return fail(job->err, VP8_STATUS_OUT_OF_MEMORY);
    }
    uint32_t size = (uint32_t)(count - 8);
    uint8_t sizes[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};
    memcpy(still, "RIFF", 4);
    memcpy(still + 4, sizes, 4);
    memcpy(still + 8, "WEBPVP8X\x0A\0\0\0\x10\0\0\0", 16);
    // Width and height of the canvas minus one, as in the frame.
    memcpy(still + HEAD_BYTES + CHUNK_BYTES + 4, head + 6, 6);
    memcpy(still + HEAD_BYTES + CHUNK_BYTES + EXTENDED_BYTES, frame.content.data + FRAME_BYTES, picture);
    *out = (image_bytes){still, count};
    *owned = still;
    return NC_IMAGE_OK;
}

static nc_image_status decode_still(const image_job *job, image_bytes input) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) {
        return image_fail(job->err, NC_IMAGE_UNSUPPORTED, 0,
                          "the loaded libwebp does not match the version of its headers");
    }
    VP8StatusCode code = WebPGetFeatures(input.data, input.count, &config.input);
    if (code != VP8_STATUS_OK) {
        return fail(job->err, code);
    }
    uint64_t whole = (uint64_t)job->stored_width * job->stored_height * CHANNELS;
    if (config.input.format == LOSSLESS && whole > job->max_bytes) {
        return image_fail(job->err, NC_IMAGE_TOO_LARGE, 0,
                          "decoding the lossless WebP requires more bytes than the limit");
    }
    if ((uint32_t)config.input.width != job->stored_width || (uint32_t)config.input.height != job->stored_height) {
        return fail(job->err, VP8_STATUS_BITSTREAM_ERROR);
    }
    config.options.use_scaling = job->width != job->stored_width || job->height != job->stored_height;
    config.options.scaled_width = (int)job->width;
    config.options.scaled_height = (int)job->height;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = job->pixels;
    config.output.u.RGBA.stride = (int)(job->width * CHANNELS);
    config.output.u.RGBA.size = (size_t)job->width * job->height * CHANNELS;
    code = WebPDecode(input.data, input.count, &config);
    WebPFreeDecBuffer(&config.output);
    return code == VP8_STATUS_OK ? NC_IMAGE_OK : fail(job->err, code);
}

nc_image_status webp_decode(const image_job *job) {
    WebPBitstreamFeatures features;
    VP8StatusCode code = WebPGetFeatures(job->input.data, job->input.count, &features);
    if (code != VP8_STATUS_OK) {
        return fail(job->err, code);
    }
    image_bytes input = job->input;
    uint8_t *owned = NULL;
    nc_image_status status = features.has_animation ? make_still(&input, &owned, job) : NC_IMAGE_OK;
    if (status == NC_IMAGE_OK) {
        status = decode_still(job, input);
    }
    free(owned);
    return status;
}
#endif
