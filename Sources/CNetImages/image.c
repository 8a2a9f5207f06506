#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PIXELS = 50000000, DEFAULT_BYTES = 256 << 20, CHANNELS = 4 };

nc_image_status image_fail(nc_image_error *err, nc_image_status status, int32_t native_code, const char *message) {
    if (err != NULL) {
        *err = (nc_image_error){.status = status, .native_code = native_code};
        snprintf(err->message, sizeof err->message, "%s", message);
    }
    return status;
}

/* --- recognition --- */

static bool begins_with(image_bytes input, size_t at, const char *text, size_t length) {
    return input.count >= at + length && memcmp(input.data + at, text, length) == 0;
}

nc_image_format nc_image_recognize(const uint8_t *bytes, size_t count) {
    image_bytes input = {bytes, bytes == NULL ? 0 : count};
    if (begins_with(input, 0, "\x89PNG\r\n\x1A\n", 8)) {
        return NC_IMAGE_PNG;
    }
    if (begins_with(input, 0, "\xFF\xD8\xFF", 3)) {
        return NC_IMAGE_JPEG;
    }
    if (begins_with(input, 0, "RIFF", 4) && begins_with(input, 8, "WEBP", 4)) {
        return NC_IMAGE_WEBP;
    }
    if (begins_with(input, 0, "GIF87a", 6) || begins_with(input, 0, "GIF89a", 6)) {
        return NC_IMAGE_GIF;
    }
    // Many texts begin with "BM"; the two reserved numbers of a BMP header are 0.
    if (begins_with(input, 0, "BM", 2) && begins_with(input, 6, "\0\0\0\0", 4)) {
        return NC_IMAGE_BMP;
    }
    if (begins_with(input, 0, "\0\0\1\0", 4) || begins_with(input, 0, "\0\0\2\0", 4)) {
        return input.count >= 6 && (input.data[4] | input.data[5]) != 0 ? NC_IMAGE_ICO : NC_IMAGE_UNKNOWN;
    }
    if (begins_with(input, 0, "II*\0", 4) || begins_with(input, 0, "MM\0*", 4)) {
        return NC_IMAGE_TIFF;
    }
    return NC_IMAGE_UNKNOWN;
}

/// Reads the size of formats that are not decoded, if their header has it.
static void inspect_head(nc_image_plan *plan, image_bytes input) {
    if (plan->format == NC_IMAGE_GIF && input.count >= 10) {
        plan->stored_width = (uint32_t)input.data[6] | (uint32_t)input.data[7] << 8;
        plan->stored_height = (uint32_t)input.data[8] | (uint32_t)input.data[9] << 8;
    } else if (plan->format == NC_IMAGE_BMP && input.count >= 26 && little_32(input.data + 14) >= 40) {
        // A negative height means that the first row is the top one.
        int32_t height = (int32_t)little_32(input.data + 22);
        plan->stored_width = little_32(input.data + 18) & INT32_MAX;
        plan->stored_height = height < 0 ? 0u - (uint32_t)height : (uint32_t)height;
    }
}

static const char *name_of(nc_image_format format) {
    switch (format) {
    case NC_IMAGE_GIF:
        return "a GIF";
    case NC_IMAGE_BMP:
        return "a BMP";
    case NC_IMAGE_ICO:
        return "an ICO";
    default:
        return "a TIFF";
    }
}

static nc_image_status refuse_kind(nc_image_format format, nc_image_error *err) {
    nc_image_status status = image_fail(err, NC_IMAGE_UNSUPPORTED, 0, "");
    if (err != NULL) {
        snprintf(err->message, sizeof err->message, "%s is recognized, but cannot be decoded", name_of(format));
    }
    return status;
}

static nc_image_status inspect(nc_image_plan *plan, image_bytes input, nc_image_error *err) {
    *plan = (nc_image_plan){.format = nc_image_recognize(input.data, input.count), .orientation = 1};
    switch (plan->format) {
    case NC_IMAGE_PNG:
        return png_inspect(plan, input, err);
    case NC_IMAGE_JPEG:
        return jpeg_inspect(plan, input, err);
    case NC_IMAGE_WEBP:
        return webp_inspect(plan, input, err);
    case NC_IMAGE_UNKNOWN:
        return image_fail(err, NC_IMAGE_MALFORMED, 0, "the bytes are not an image of a known format");
    default:
        inspect_head(plan, input);
        plan->width = plan->stored_width;
        plan->height = plan->stored_height;
        return refuse_kind(plan->format, err);
    }
}

/* --- size --- */

static bool is_turned(uint32_t orientation) {
    return orientation >= 5;
}

static uint32_t scaled(uint32_t length, uint32_t by, uint32_t of) {
    uint64_t result = ((uint64_t)length * by + of / 2) / of;
    return result == 0 ? 1 : (uint32_t)result;
}

static void fit(uint32_t *width, uint32_t *height, const nc_image_options *options) {
    uint32_t most_wide = options->fit_width == 0 || options->fit_width > *width ? *width : options->fit_width;
    uint32_t most_high = options->fit_height == 0 || options->fit_height > *height ? *height : options->fit_height;
    if ((uint64_t)*width * most_high > (uint64_t)*height * most_wide) {
        *height = scaled(*height, most_wide, *width);
        *width = most_wide;
    } else {
        *width = scaled(*width, most_high, *height);
        *height = most_high;
    }
}

static nc_image_options completed(const nc_image_options *options) {
    nc_image_options chosen = options == NULL ? (nc_image_options){0} : *options;
    chosen.max_pixels = chosen.max_pixels == 0 ? DEFAULT_PIXELS : chosen.max_pixels;
    chosen.max_bytes = chosen.max_bytes == 0 ? DEFAULT_BYTES : chosen.max_bytes;
    return chosen;
}

static nc_image_status plan_image(nc_image_plan *plan, image_bytes input, const nc_image_options *options,
                                  nc_image_error *err) {
    nc_image_status status = inspect(plan, input, err);
    if (status != NC_IMAGE_OK) {
        return status;
    }
    if (plan->stored_width == 0 || plan->stored_height == 0) {
        return image_fail(err, NC_IMAGE_MALFORMED, 0, "the image has no pixels");
    }
    if ((uint64_t)plan->stored_width * plan->stored_height > options->max_pixels) {
        status = image_fail(err, NC_IMAGE_TOO_LARGE, 0, "");
        if (err != NULL) {
            snprintf(err->message, sizeof err->message, "an image of %u by %u pixels exceeds the limit of %zu pixels",
                     plan->stored_width, plan->stored_height, options->max_pixels);
        }
        return status;
    }
    bool turns = is_turned(plan->orientation) && !options->ignores_orientation;
    plan->width = turns ? plan->stored_height : plan->stored_width;
    plan->height = turns ? plan->stored_width : plan->stored_height;
    fit(&plan->width, &plan->height, options);
    if ((uint64_t)plan->width * plan->height * CHANNELS > options->max_bytes) {
        return image_fail(err, NC_IMAGE_TOO_LARGE, 0, "the decoded image exceeds the byte limit");
    }
    return NC_IMAGE_OK;
}

nc_image_status nc_image_measure(nc_image_plan *out, const uint8_t *bytes, size_t count,
                                 const nc_image_options *options, nc_image_error *err) {
    if (out == NULL || (bytes == NULL && count > 0)) {
        return image_fail(err, NC_IMAGE_USAGE, 0, "an argument is missing");
    }
    nc_image_options chosen = completed(options);
    nc_image_plan plan;
    nc_image_status status = plan_image(&plan, (image_bytes){bytes, count}, &chosen, err);
    if (status == NC_IMAGE_OK || status == NC_IMAGE_UNSUPPORTED) {
        *out = plan;
    }
    return status;
}

/* --- decoding --- */

/// Copies an image as EXIF's orientation requires.
static void orient(uint8_t *target, const uint8_t *source, uint32_t width, uint32_t height, uint32_t orientation) {
    // In pixels: the first one to show, and the distances between columns and between rows.
    ptrdiff_t right = 1;
    ptrdiff_t down = (ptrdiff_t)width;
    ptrdiff_t last_column = (ptrdiff_t)width - 1;
    ptrdiff_t last_row = down * ((ptrdiff_t)height - 1);
    static const struct {
        bool from_right, from_bottom;
    } begins[9] = {[2] = {true, false}, [3] = {true, true}, [4] = {false, true},
                   [6] = {false, true}, [7] = {true, true}, [8] = {true, false}};
    bool from_right = begins[orientation].from_right;
    bool from_bottom = begins[orientation].from_bottom;
    ptrdiff_t start = (from_right ? last_column : 0) + (from_bottom ? last_row : 0);
    right = from_right ? -right : right;
    down = from_bottom ? -down : down;
    bool turns = is_turned(orientation);
    uint32_t columns = turns ? height : width;
    uint32_t lines = turns ? width : height;
    ptrdiff_t step = turns ? down : right;
    ptrdiff_t next_line = turns ? right : down;
    for (uint32_t y = 0; y < lines; y++) {
        const uint8_t *pixel = source + (start + next_line * (ptrdiff_t)y) * CHANNELS;
        for (uint32_t x = 0; x < columns; x++, pixel += step * CHANNELS, target += CHANNELS) {
            memcpy(target, pixel, CHANNELS);
        }
    }
}

static nc_image_status decode_stored(nc_image_format format, const image_job *job) {
    switch (format) {
    case NC_IMAGE_PNG:
        return png_decode(job);
    case NC_IMAGE_JPEG:
        return jpeg_decode(job);
    default:
        return webp_decode(job);
    }
}

nc_image_status nc_image_decode(uint8_t *pixels, size_t room_bytes, const uint8_t *bytes, size_t count,
                                const nc_image_options *options, nc_image_error *err) {
    if (pixels == NULL || (bytes == NULL && count > 0)) {
        return image_fail(err, NC_IMAGE_USAGE, 0, "an argument is missing");
    }
    nc_image_options chosen = completed(options);
    nc_image_plan plan;
    image_bytes input = {bytes, count};
    nc_image_status status = plan_image(&plan, input, &chosen, err);
    if (status != NC_IMAGE_OK) {
        return status;
    }
    if (room_bytes != (size_t)plan.width * plan.height * CHANNELS) {
        return image_fail(err, NC_IMAGE_USAGE, 0, "the size of the buffer differs from the size of the decoded image");
    }
    uint32_t orientation = chosen.ignores_orientation ? 1 : plan.orientation;
    image_job job = {
        .input = input,
        .stored_width = plan.stored_width,
        .stored_height = plan.stored_height,
        .width = is_turned(orientation) ? plan.height : plan.width,
        .height = is_turned(orientation) ? plan.width : plan.height,
        .pixels = pixels,
        .max_bytes = chosen.max_bytes,
        .err = err,
    };
    if (orientation == 1) {
        return decode_stored(plan.format, &job);
    }
    job.pixels = malloc(room_bytes);
    if (job.pixels == NULL) {
        return image_fail(err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
    }
    status = decode_stored(plan.format, &job);
    if (status == NC_IMAGE_OK) {
        orient(pixels, job.pixels, job.width, job.height, orientation);
    }
    free(job.pixels);
    return status;
}

void nc_image_free(uint8_t *bytes) {
    free(bytes);
}
