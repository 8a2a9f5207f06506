#include "made.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

/// Fails unless the image decodes to made_pixels(). Grey images have its red in every colour.
static void assert_picture(made image, bool is_grey, int tolerance) {
    nc_image_plan plan;
    nc_image_status status;
    uint8_t *pixels = decoded(&plan, &status, image, NULL);
    assert_int_equal(status, NC_IMAGE_OK);
    uint8_t *wanted = made_pixels(plan.width, plan.height);
    for (uint32_t y = 0; y < plan.height; y++) {
        for (uint32_t x = 0; x < plan.width; x++) {
            const uint8_t *pixel = wanted + ((size_t)y * plan.width + x) * 4;
            int colour[] = {pixel[0], is_grey ? pixel[0] : pixel[1], is_grey ? pixel[0] : pixel[2], 255};
            assert_near(&plan, pixels, x, y, colour, tolerance);
        }
    }
    free(wanted);
    free(pixels);
    made_free(&image);
}

static void image__decodes_every_kind_of_png(void **state) {
    (void)state;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_RGB, 8, interlaced}), false, 0);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced}), false, 0);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_RGB, 16, interlaced}), false, 0);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_GRAY, 8, interlaced}), true, 0);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_GRAY, 4, interlaced}), true, 15);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_GRAY, 1, interlaced}), true, 128);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_GRAY_ALPHA, 8, interlaced}), true, 0);
        assert_picture(made_png(37, 21, (png_kind){PNG_COLOR_TYPE_PALETTE, 8, interlaced}), true, 0);
    }
    assert_picture(made_png(1, 1, (png_kind){PNG_COLOR_TYPE_RGB, 8, true}), false, 0);
    assert_picture(made_png(1, 9, (png_kind){PNG_COLOR_TYPE_RGB, 8, true}), false, 0);
}

static void image__decodes_every_kind_of_jpeg(void **state) {
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        assert_picture(made_jpeg(64, 48, (jpeg_kind){3, progressive, 0}), false, 12);
        assert_picture(made_jpeg(64, 48, (jpeg_kind){1, progressive, 0}), true, 6);
    }
    // Adobe's CMYK is inverted, so 255 means no ink. Cyan encodes red, and black 255 leaves the others unchanged.
    assert_picture(made_jpeg(64, 48, (jpeg_kind){4, false, 0}), false, 12);
}

static void image__a_jpeg_smaller_than_a_block_is_decoded_exactly(void **state) {
    (void)state;
    // libjpeg rounds a scaled size up: seven pixels by 7/8 are seven again, but with other values.
    for (uint32_t side = 1; side <= 9; side++) {
        assert_picture(made_jpeg(side, side, (jpeg_kind){1, false, 0}), true, 12);
        assert_picture(made_jpeg(7, side, (jpeg_kind){1, true, 0}), true, 12);
    }
}

static void image__a_narrow_jpeg_is_scaled_by_its_visible_columns(void **state) {
    static const nc_image_options fit = {.fit_width = 1, .fit_height = 1};
    (void)state;
    for (uint32_t width = 3; width <= 40; width++) {
        made image = made_jpeg(width, 200, (jpeg_kind){1, false, 0});
        nc_image_plan plan;
        nc_image_status status;
        uint8_t *pixels = decoded(&plan, &status, image, &fit);
        assert_int_equal(status, NC_IMAGE_OK);
        // A gradient from black to white, scaled to one pixel, is a middle grey.
        assert_near(&plan, pixels, 0, 0, (int[]){127, 127, 127, 255}, 6);
        free(pixels);
        made_free(&image);
    }
}

static void image__decodes_webp(void **state) {
    (void)state;
    assert_picture(made_webp(40, 30, true), false, 0);
    assert_picture(made_webp(40, 30, false), false, 20);
}

static void image__is_rotated_by_exif(void **state) {
    (void)state;
    // The stored upper left is black, the upper right red, the lower left green, the lower right both. The rows are
    // their positions after rotation.
    static const char shown[9][5] = {"", "krgy", "rkyg", "ygrk", "gykr", "kgry", "gkyr", "yrgk", "rykg"};
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        made image = made_jpeg(64, 32, (jpeg_kind){3, false, orientation});
        nc_image_plan plan;
        nc_image_status status;
        uint8_t *pixels = decoded(&plan, &status, image, NULL);
        assert_int_equal(status, NC_IMAGE_OK);
        assert_int_equal(plan.orientation, orientation);
        assert_int_equal(plan.width, orientation >= 5 ? 32 : 64);
        for (uint32_t corner = 0; corner < 4; corner++) {
            char colour = shown[orientation][corner];
            int wanted[] = {colour == 'r' || colour == 'y' ? 255 : 0, colour == 'g' || colour == 'y' ? 255 : 0, 0, 255};
            assert_near(&plan, pixels, corner % 2 ? plan.width - 1 : 0, corner / 2 ? plan.height - 1 : 0, wanted, 24);
        }
        free(pixels);
        nc_image_options options = {.ignores_orientation = true};
        free(decoded(&plan, &status, image, &options));
        assert_int_equal(plan.width, 64);
        options = (nc_image_options){.fit_width = 16};
        free(decoded(&plan, &status, image, &options));
        assert_int_equal(plan.width, 16);
        assert_int_equal(plan.height, orientation >= 5 ? 32 : 8);
        made_free(&image);
    }
}

static void assert_scaled(made image, uint32_t fit_width, uint32_t fit_height, uint32_t width, uint32_t height) {
    nc_image_options options = {.fit_width = fit_width, .fit_height = fit_height};
    nc_image_plan plan;
    nc_image_status status;
    uint8_t *pixels = decoded(&plan, &status, image, &options);
    assert_int_equal(status, NC_IMAGE_OK);
    assert_int_equal(plan.width, width);
    assert_int_equal(plan.height, height);
    // Red and green grow evenly, so the mean of a covered area is the value at its middle.
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            int wanted[] = {(int)(255 * (2 * x + 1) / (2 * width)), (int)(255 * (2 * y + 1) / (2 * height)), 0, 255};
            assert_near(&plan, pixels, x, y, wanted, 14);
        }
    }
    free(pixels);
    made_free(&image);
}

static void image__scales_down_while_it_decodes(void **state) {
    (void)state;
    png_kind rgb = {PNG_COLOR_TYPE_RGB, 8, false};
    png_kind interlaced = {PNG_COLOR_TYPE_RGB, 8, true};
    assert_scaled(made_png(200, 100, rgb), 50, 0, 50, 25);
    assert_scaled(made_png(200, 100, rgb), 0, 33, 66, 33);
    assert_scaled(made_png(200, 100, rgb), 199, 100, 199, 100);
    assert_scaled(made_png(200, 100, interlaced), 50, 50, 50, 25);
    assert_scaled(made_png(200, 100, rgb), 500, 500, 200, 100);
    assert_scaled(made_jpeg(200, 100, (jpeg_kind){3, false, 0}), 50, 50, 50, 25);
    assert_scaled(made_jpeg(200, 100, (jpeg_kind){3, true, 0}), 45, 50, 45, 23);
    assert_scaled(made_webp(200, 100, true), 50, 50, 50, 25);
    assert_scaled(made_webp(200, 100, false), 50, 50, 50, 25);
}

static void image__weighs_pixels_by_their_alpha(void **state) {
    (void)state;
    static const uint8_t pixels[] = {255, 0, 0, 255, 0, 255, 0, 0};
    made image;
    assert_int_equal(nc_image_write_png(&image.bytes, &image.count, pixels, 2, 1, NULL), NC_IMAGE_OK);
    nc_image_options options = {.fit_width = 1};
    nc_image_plan plan;
    nc_image_status status;
    uint8_t *scaled = decoded(&plan, &status, image, &options);
    // Transparent pixels contribute no colour.
    assert_near(&plan, scaled, 0, 0, (const int[]){255, 0, 0, 128}, 0);
    free(scaled);
    nc_image_free(image.bytes);
}

static void image__a_written_png_round_trips(void **state) {
    (void)state;
    uint8_t *pixels = made_pixels(13, 7);
    pixels[3] = 7;
    made image;
    nc_image_error err;
    assert_int_equal(nc_image_write_png(&image.bytes, &image.count, pixels, 13, 7, &err), NC_IMAGE_OK);
    nc_image_plan plan;
    nc_image_status status;
    uint8_t *read = decoded(&plan, &status, image, NULL);
    assert_memory_equal(read, pixels, 13 * 7 * 4);
    assert_int_equal(nc_image_write_png(&image.bytes, &image.count, pixels, 0, 7, &err), NC_IMAGE_USAGE);
    nc_image_free(image.bytes);
    free(read);
    free(pixels);
}

static void image__recognizes_by_content(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
        nc_image_format format;
    } rows[] = {
        {"\x89PNG\r\n\x1A\n", 8, NC_IMAGE_PNG},
        {"\xFF\xD8\xFF\xE0", 4, NC_IMAGE_JPEG},
        {"RIFF\x10\0\0\0WEBPVP8 ", 16, NC_IMAGE_WEBP},
        {"GIF87a", 6, NC_IMAGE_GIF},
        {"GIF89a", 6, NC_IMAGE_GIF},
        {"BM\x3A\0\0\0\0\0\0\0", 10, NC_IMAGE_BMP},
        {"\0\0\1\0\1\0", 6, NC_IMAGE_ICO},
        {"\0\0\2\0\1\0", 6, NC_IMAGE_ICO},
        {"II*\0", 4, NC_IMAGE_TIFF},
        {"MM\0*", 4, NC_IMAGE_TIFF},
        {"", 0, NC_IMAGE_UNKNOWN},
        {"\x89PNG\r\n\x1A", 7, NC_IMAGE_UNKNOWN},
        {"RIFF\x10\0\0\0WAVEfmt ", 16, NC_IMAGE_UNKNOWN},
        {"GIF88a", 6, NC_IMAGE_UNKNOWN},
        {"BMW is a car", 12, NC_IMAGE_UNKNOWN},
        {"\0\0\1\0\0\0", 6, NC_IMAGE_UNKNOWN},
        {"II+\0", 4, NC_IMAGE_UNKNOWN},
        {"<svg/>", 6, NC_IMAGE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        guarded copy = guarded_copy(nc_slice_make((const uint8_t *)rows[i].bytes, rows[i].count));
        assert_int_equal(nc_image_recognize(copy.slice.data, copy.slice.length), rows[i].format);
        guarded_deinit(&copy);
    }
}

static void image__reports_the_size_of_formats_that_it_does_not_decode(void **state) {
    (void)state;
    nc_image_plan plan;
    nc_image_error err = {0};
    static const char gif[] = "GIF89a\x03\0\x02\0";
    assert_int_equal(nc_image_measure(&plan, (const uint8_t *)gif, 10, NULL, &err), NC_IMAGE_UNSUPPORTED);
    assert_string_equal(err.message, "a GIF is recognized, but cannot be decoded");
    assert_int_equal(plan.width, 3);
    assert_int_equal(plan.height, 2);
    static const char bmp[] = "BM\x3A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\5\0\0\0\xFE\xFF\xFF\xFF";
    assert_int_equal(nc_image_measure(&plan, (const uint8_t *)bmp, 26, NULL, NULL), NC_IMAGE_UNSUPPORTED);
    assert_int_equal(plan.width, 5);
    assert_int_equal(plan.height, 2);
}

static void image__rejects_invalid_arguments(void **state) {
    (void)state;
    nc_image_plan plan;
    nc_image_error err;
    uint8_t pixel[8];
    made image = made_png(1, 1, (png_kind){PNG_COLOR_TYPE_RGB, 8, false});
    assert_int_equal(nc_image_measure(&plan, NULL, 1, NULL, &err), NC_IMAGE_USAGE);
    assert_int_equal(nc_image_decode(pixel, 8, image.bytes, image.count, NULL, &err), NC_IMAGE_USAGE);
    assert_int_equal(nc_image_decode(pixel, 4, NULL, 0, NULL, &err), NC_IMAGE_MALFORMED);
    made_free(&image);
    nc_image_free(NULL);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(image__decodes_every_kind_of_png),
        harness_case(image__decodes_every_kind_of_jpeg),
        harness_case(image__a_jpeg_smaller_than_a_block_is_decoded_exactly),
        harness_case(image__a_narrow_jpeg_is_scaled_by_its_visible_columns),
        harness_case(image__decodes_webp),
        harness_case(image__is_rotated_by_exif),
        harness_case(image__scales_down_while_it_decodes),
        harness_case(image__weighs_pixels_by_their_alpha),
        harness_case(image__a_written_png_round_trips),
        harness_case(image__recognizes_by_content),
        harness_case(image__reports_the_size_of_formats_that_it_does_not_decode),
        harness_case(image__rejects_invalid_arguments),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
