#if defined(NETKIT_IMAGES) || !defined(SWIFT_PACKAGE)
#include "image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

typedef struct png_target {
    uint8_t *bytes;
    size_t count;
    size_t room;
} png_target;

static void on_error(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
    png_target *target = png_get_io_ptr(png);
    if (count > target->room - target->count) {
        size_t room = (target->room + count) * 2;
        uint8_t *larger = realloc(target->bytes, room);
        if (larger == NULL) {
            png_error(png, "memory ran out");
        }
        target->bytes = larger;
        target->room = room;
    }
    memcpy(target->bytes + target->count, bytes, count);
    target->count += count;
}

static void on_flush(png_structp png) {
    (void)png;
}

static void write_picture(png_structp png, png_infop info, const uint8_t *pixels, uint32_t width, uint32_t height) {
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++) {
        png_write_row(png, pixels + (size_t)y * width * 4);
    }
    png_write_end(png, info);
}

nc_image_status nc_image_write_png(uint8_t **out, size_t *out_count, const uint8_t *pixels, uint32_t width,
                                   uint32_t height, nc_image_error *err) {
    if (out == NULL || out_count == NULL || pixels == NULL || width == 0 || height == 0 || width > PNG_UINT_31_MAX ||
        height > PNG_UINT_31_MAX) {
        return image_fail(err, NC_IMAGE_USAGE, 0, "there are no pixels to write");
    }
    png_target target = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    volatile bool is_whole = false;
    if (info != NULL && setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &target, on_write, on_flush);
        png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        write_picture(png, info, pixels, width, height);
        is_whole = true;
    }
    png_destroy_write_struct(&png, &info);
    if (!is_whole) {
        free(target.bytes);
        return image_fail(err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
    }
    *out = target.bytes;
    *out_count = target.count;
    return NC_IMAGE_OK;
}
#endif
