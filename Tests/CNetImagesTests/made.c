#include "made.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include <jpeglib.h>

void made_free(made *image) {
    free(image->bytes);
    *image = (made){0};
}

uint8_t *made_pixels(uint32_t width, uint32_t height) {
    uint8_t *pixels = calloc((size_t)width * height, 4);
    assert_non_null(pixels);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint8_t *pixel = pixels + ((size_t)y * width + x) * 4;
            pixel[0] = (uint8_t)(width == 1 ? 0 : x * 255 / (width - 1));
            pixel[1] = (uint8_t)(height == 1 ? 0 : y * 255 / (height - 1));
            pixel[3] = 255;
        }
    }
    return pixels;
}

/* --- PNG --- */

static void append(png_structp png, png_bytep bytes, size_t count) {
    made *image = png_get_io_ptr(png);
    image->bytes = realloc(image->bytes, image->count + count);
    assert_non_null(image->bytes);
    memcpy(image->bytes + image->count, bytes, count);
    image->count += count;
}

static void flush(png_structp png) {
    (void)png;
}

/// Writes one row in the format of the kind; small samples are packed into bytes.
static void fill_row(uint8_t *row, const uint8_t *pixels, uint32_t width, png_kind kind) {
    memset(row, 0, (size_t)width * 8);
    for (uint32_t x = 0; x < width; x++, pixels += 4) {
        if (kind.bit_depth < 8) {
            unsigned level = (unsigned)pixels[0] >> (8 - kind.bit_depth);
            unsigned bit = x * (unsigned)kind.bit_depth;
            row[bit / 8] |= (uint8_t)(level << (8 - (unsigned)kind.bit_depth - bit % 8));
        } else if (kind.bit_depth == 16) {
            for (int i = 0; i < 3; i++) {
                row[x * 6 + (uint32_t)i * 2] = row[x * 6 + (uint32_t)i * 2 + 1] = pixels[i];
            }
        } else if (kind.colour_type == PNG_COLOR_TYPE_RGB) {
            memcpy(row + (size_t)x * 3, pixels, 3);
        } else if (kind.colour_type == PNG_COLOR_TYPE_RGB_ALPHA) {
            memcpy(row + (size_t)x * 4, pixels, 4);
        } else if (kind.colour_type == PNG_COLOR_TYPE_GRAY_ALPHA) {
            row[x * 2] = pixels[0];
            row[x * 2 + 1] = 255;
        } else {
            row[x] = pixels[0];
        }
    }
}

made made_png(uint32_t width, uint32_t height, png_kind kind) {
    made image = {0};
    uint8_t *pixels = made_pixels(width, height);
    uint8_t *row = calloc(width, 8);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &image, append, flush);
    png_set_IHDR(png, info, width, height, kind.bit_depth, kind.colour_type,
                 kind.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_color greys[256];
    for (int i = 0; i < 256; i++) {
        greys[i] = (png_color){(uint8_t)i, (uint8_t)i, (uint8_t)i};
    }
    if (kind.colour_type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, greys, 256);
    }
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < height; y++) {
            fill_row(row, pixels + (size_t)y * width * 4, width, kind);
            png_write_row(png, row);
        }
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    free(pixels);
    return image;
}

/* --- JPEG --- */

static void write_orientation(struct jpeg_compress_struct *jpeg, uint8_t orientation) {
    uint8_t block[] = {'E',  'x', 'i', 'f', 0, 0, 'I', 'I', 42,          0, 8, 0, 0, 0, 1, 0,
                       0x12, 1,   3,   0,   1, 0, 0,   0,   orientation, 0, 0, 0, 0, 0, 0, 0};
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, block, sizeof block);
}

static void fill_jpeg_row(uint8_t *row, const uint8_t *pixels, uint32_t width, int components) {
    for (uint32_t x = 0; x < width; x++, pixels += 4) {
        for (int i = 0; i < components; i++) {
            row[x * (uint32_t)components + (uint32_t)i] = pixels[i];
        }
    }
}

made made_jpeg(uint32_t width, uint32_t height, jpeg_kind kind) {
    made image = {0};
    unsigned long count = 0;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &image.bytes, &count);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = kind.components;
    jpeg.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (kind.is_progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    if (kind.orientation != 0) {
        write_orientation(&jpeg, kind.orientation);
    }
    uint8_t *pixels = made_pixels(width, height);
    uint8_t *row = calloc(width, 4);
    for (uint32_t y = 0; y < height; y++) {
        fill_jpeg_row(row, pixels + (size_t)y * width * 4, width, kind.components);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    free(pixels);
    image.count = count;
    return image;
}

/* --- WebP --- */

made made_webp(uint32_t width, uint32_t height, bool is_lossless) {
    uint8_t *pixels = made_pixels(width, height);
    uint8_t *out = NULL;
    int stride = (int)width * 4;
    size_t count = is_lossless ? WebPEncodeLosslessRGBA(pixels, (int)width, (int)height, stride, &out)
                               : WebPEncodeRGBA(pixels, (int)width, (int)height, stride, 95, &out);
    free(pixels);
    assert_true(count > 0);
    made image = {malloc(count), count};
    memcpy(image.bytes, out, count);
    WebPFree(out);
    return image;
}

/* --- decoding --- */

uint8_t *decoded(nc_image_plan *plan, nc_image_status *status, made image, const nc_image_options *options) {
    nc_image_error err = {0};
    *status = nc_image_measure(plan, image.bytes, image.count, options, &err);
    if (*status != NC_IMAGE_OK) {
        return NULL;
    }
    size_t room = (size_t)plan->width * plan->height * 4;
    uint8_t *pixels = malloc(room);
    *status = nc_image_decode(pixels, room, image.bytes, image.count, options, &err);
    if (*status != NC_IMAGE_OK) {
        assert_int_equal(err.status, *status);
        assert_true(strlen(err.message) > 0);
        free(pixels);
        return NULL;
    }
    return pixels;
}

void assert_near(const nc_image_plan *plan, const uint8_t *pixels, uint32_t x, uint32_t y, const int wanted[4],
                 int tolerance) {
    const uint8_t *pixel = pixels + ((size_t)y * plan->width + x) * 4;
    for (int i = 0; i < 4; i++) {
        if (abs(pixel[i] - wanted[i]) > tolerance) {
            fail_msg("pixel %u,%u is %d %d %d %d", x, y, pixel[0], pixel[1], pixel[2], pixel[3]);
        }
    }
}
