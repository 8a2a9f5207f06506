#include "image_model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PIXELS = 1 << 16, MAX_BYTES = 1 << 20 };

static void check_failure(nc_image_status status, const nc_image_error *err) {
    CHECK(err->status == status && strlen(err->message) > 0);
    CHECK(status == NC_IMAGE_MALFORMED || status == NC_IMAGE_TOO_LARGE || status == NC_IMAGE_UNSUPPORTED);
}

static nc_image_status decode(uint8_t *pixels, size_t room, int filling, nc_slice image,
                              const nc_image_options *options) {
    nc_image_error err = {0};
    memset(pixels, filling, room);
    nc_image_status status = nc_image_decode(pixels, room, image.data, image.length, options, &err);
    if (status != NC_IMAGE_OK) {
        check_failure(status, &err);
    }
    return status;
}

static void check_decoding(nc_slice image, const nc_image_plan *plan, const nc_image_options *options) {
    CHECK(plan->width > 0 && plan->height > 0);
    CHECK(options->fit_width == 0 || plan->width <= options->fit_width);
    CHECK(options->fit_height == 0 || plan->height <= options->fit_height);
    size_t room = (size_t)plan->width * plan->height * 4;
    CHECK(room <= MAX_BYTES);
    uint8_t *first = malloc(room);
    uint8_t *second = malloc(room);
    nc_image_status status = decode(first, room, 0x00, image, options);
    CHECK(decode(second, room, 0xA5, image, options) == status);
    CHECK(status != NC_IMAGE_OK || memcmp(first, second, room) == 0);
    free(first);
    free(second);
}

int image_check(const uint8_t *data, size_t size, nc_slice begins_with) {
    input in = input_init(data, size);
    nc_image_options options = {.max_pixels = MAX_PIXELS, .max_bytes = MAX_BYTES};
    options.fit_width = input_number(&in);
    options.fit_height = input_number(&in);
    options.ignores_orientation = (input_byte(&in) & 1) != 0;
    nc_slice rest = input_rest(&in);
    size_t missing = rest.length >= begins_with.length && memcmp(rest.data, begins_with.data, begins_with.length) == 0
                         ? 0
                         : begins_with.length;
    // A block of exactly this length, so that ASan detects each read past its end.
    uint8_t *image = malloc(missing + rest.length);
    memcpy(image, begins_with.data, missing);
    if (rest.length > 0) {
        memcpy(image + missing, rest.data, rest.length);
    }
    nc_slice whole = nc_slice_make(image, missing + rest.length);
    nc_image_plan plan;
    nc_image_error err = {0};
    nc_image_status status = nc_image_measure(&plan, whole.data, whole.length, &options, &err);
    if (status == NC_IMAGE_OK) {
        check_decoding(whole, &plan, &options);
    } else {
        check_failure(status, &err);
    }
    free(image);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
