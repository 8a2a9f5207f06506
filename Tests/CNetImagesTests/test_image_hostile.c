/// Damaged images, and small ones that declare a large size.
#include "made.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

static nc_image_status status_of(const uint8_t *bytes, size_t count) {
    guarded copy = guarded_copy(nc_slice_make(bytes, count));
    nc_image_plan plan;
    nc_image_status status;
    free(decoded(&plan, &status, (made){(uint8_t *)(uintptr_t)copy.slice.data, count}, NULL));
    guarded_deinit(&copy);
    return status;
}

static made sample(int kind) {
    switch (kind) {
    case 0:
        return made_png(19, 17, (png_kind){PNG_COLOR_TYPE_RGB, 8, false});
    case 1:
        return made_png(19, 17, (png_kind){PNG_COLOR_TYPE_RGB_ALPHA, 8, true});
    case 2:
        return made_jpeg(19, 17, (jpeg_kind){3, false, 6});
    case 3:
        return made_jpeg(19, 17, (jpeg_kind){3, true, 0});
    case 4:
        return made_webp(19, 17, true);
    default:
        return made_webp(19, 17, false);
    }
}

static void image__rejects_truncated_images(void **state) {
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        made image = sample(kind);
        // A JPEG's end is two bytes that its last scan does not need; libwebp's is padding.
        size_t spare = kind == 2 || kind == 3 ? 2 : kind >= 4 ? 1 : 0;
        for (size_t count = 0; count + spare < image.count; count++) {
            nc_image_status status = status_of(image.bytes, count);
            if (status != NC_IMAGE_MALFORMED && (kind < 4 || status != NC_IMAGE_OK || count + 4 < image.count)) {
                fail_msg("kind %d, %zu of %zu bytes: %d", kind, count, image.count, (int)status);
            }
        }
        assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_OK);
        made_free(&image);
    }
}

static void image__survives_any_changed_byte(void **state) {
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        made image = sample(kind);
        size_t refused = 0;
        for (size_t at = 0; at < image.count; at++) {
            static const uint8_t flips[] = {0x01, 0x80, 0xFF};
            for (size_t i = 0; i < sizeof flips; i++) {
                image.bytes[at] ^= flips[i];
                refused += status_of(image.bytes, image.count) != NC_IMAGE_OK;
                image.bytes[at] ^= flips[i];
            }
        }
        assert_true(refused > 0);
        made_free(&image);
    }
}

static void put_32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

static void image__rejects_a_png_with_damaged_transparency(void **state) {
    (void)state;
    enum { HEAD_BYTES = 33, CHUNK_BYTES = 18 };
    made plain = sample(0);
    made image = {malloc(plain.count + CHUNK_BYTES), plain.count + CHUNK_BYTES};
    memcpy(image.bytes, plain.bytes, HEAD_BYTES);
    memcpy(image.bytes + HEAD_BYTES, "\0\0\0\6tRNS\0\0\0\0\0\0", CHUNK_BYTES - 4);
    uint8_t *check = image.bytes + HEAD_BYTES + CHUNK_BYTES - 4;
    put_32(check, (uint32_t)crc32(0, image.bytes + HEAD_BYTES + 4, CHUNK_BYTES - 8));
    memcpy(image.bytes + HEAD_BYTES + CHUNK_BYTES, plain.bytes + HEAD_BYTES, plain.count - HEAD_BYTES);
    assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_OK);
    for (uint8_t *at = image.bytes + HEAD_BYTES + 8; at < check + 4; at++) {
        *at ^= 1;
        assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_MALFORMED);
        *at ^= 1;
    }
    made_free(&plain);
    made_free(&image);
}

/* --- bombs --- */

static void refuse_as_too_large(made image) {
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_TOO_LARGE);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32L << 10);
}

static void image__rejects_bombs_before_decoding(void **state) {
    (void)state;
    made png = sample(0);
    put_32(png.bytes + 16, 50000);
    put_32(png.bytes + 20, 50000);
    put_32(png.bytes + 29, (uint32_t)crc32(0, png.bytes + 12, 17));
    refuse_as_too_large(png);
    put_32(png.bytes + 16, 0x7FFFFFFF);
    put_32(png.bytes + 20, 0x7FFFFFFF);
    refuse_as_too_large(png);
    made_free(&png);
    made jpeg = sample(3);
    uint8_t *frame = memmem(jpeg.bytes, jpeg.count, "\xFF\xC2", 2);
    assert_non_null(frame);
    memset(frame + 5, 0xFF, 4);
    refuse_as_too_large(jpeg);
    made_free(&jpeg);
    made webp = sample(4);
    // 14 bits each, all set.
    memset(webp.bytes + 21, 0xFF, 3);
    webp.bytes[24] |= 0x0F;
    refuse_as_too_large(webp);
    made_free(&webp);
}

static void image__rejects_a_jpeg_with_too_many_scans(void **state) {
    (void)state;
    made image = made_jpeg(64, 64, (jpeg_kind){3, true, 0});
    // Repeats the last scan a thousand times; each pass would cover the whole picture.
    uint8_t *last = NULL;
    for (size_t i = 0; i + 1 < image.count; i++) {
        last = image.bytes[i] == 0xFF && image.bytes[i + 1] == 0xDA ? image.bytes + i : last;
    }
    assert_non_null(last);
    size_t scan = image.count - 2 - (size_t)(last - image.bytes);
    size_t head = (size_t)(last - image.bytes);
    made bomb = {malloc(head + 1000 * scan + 2), head + 1000 * scan + 2};
    memcpy(bomb.bytes, image.bytes, head);
    for (size_t i = 0; i < 1000; i++) {
        memcpy(bomb.bytes + head + i * scan, last, scan);
    }
    memcpy(bomb.bytes + bomb.count - 2, "\xFF\xD9", 2);
    refuse_as_too_large(bomb);
    made_free(&bomb);
    made_free(&image);
}

/// Returns a PNG of one pixel with extra compressed data.
static made png_with_more(size_t inflated) {
    uint8_t *zeros = calloc(inflated, 1);
    uLong room = compressBound(inflated);
    made image = {calloc(room + 100, 1), 0};
    uint8_t *at = image.bytes;
    memcpy(at, "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0", 29);
    put_32(at + 29, (uint32_t)crc32(0, at + 12, 17));
    compress2(at + 41, &room, zeros, inflated, 9);
    put_32(at + 33, (uint32_t)room);
    memcpy(at + 37, "IDAT", 4);
    put_32(at + 41 + room, (uint32_t)crc32(0, at + 37, (uInt)room + 4));
    memcpy(at + 45 + room, "\0\0\0\0IEND\xAE\x42\x60\x82", 12);
    image.count = 57 + room;
    free(zeros);
    return image;
}

static void image__rejects_a_png_with_data_after_its_last_row(void **state) {
    (void)state;
    made image = png_with_more(256 << 20);
    assert_true(image.count < 1 << 20);
    assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_MALFORMED);
    made_free(&image);
    // Some writers leave a small excess.
    image = png_with_more(64);
    assert_int_equal(status_of(image.bytes, image.count), NC_IMAGE_OK);
    made_free(&image);
}

static void image__limits_the_memory_of_progressive_decoders(void **state) {
    (void)state;
    nc_image_options options = {.fit_width = 10, .max_bytes = 10000};
    nc_image_plan plan;
    nc_image_status status;
    // One row is small; the whole is 40,000.
    made plain = made_png(100, 100, (png_kind){PNG_COLOR_TYPE_RGB, 8, false});
    free(decoded(&plan, &status, plain, &options));
    assert_int_equal(status, NC_IMAGE_OK);
    made_free(&plain);
    made interlaced = made_png(100, 100, (png_kind){PNG_COLOR_TYPE_RGB, 8, true});
    free(decoded(&plan, &status, interlaced, &options));
    assert_int_equal(status, NC_IMAGE_TOO_LARGE);
    made_free(&interlaced);
    made lossless = made_webp(100, 100, true);
    free(decoded(&plan, &status, lossless, &options));
    assert_int_equal(status, NC_IMAGE_TOO_LARGE);
    made_free(&lossless);
    options.max_bytes = 400000;
    made progressive = made_jpeg(800, 800, (jpeg_kind){3, true, 0});
    free(decoded(&plan, &status, progressive, &options));
    assert_int_equal(status, NC_IMAGE_TOO_LARGE);
    made_free(&progressive);
    made baseline = made_jpeg(800, 800, (jpeg_kind){3, false, 0});
    free(decoded(&plan, &status, baseline, &options));
    assert_int_equal(status, NC_IMAGE_OK);
    made_free(&baseline);
}

static void image__ignores_malformed_exif(void **state) {
    (void)state;
    made image = made_jpeg(19, 17, (jpeg_kind){3, false, 6});
    uint8_t *block = memmem(image.bytes, image.count, "Exif", 4);
    assert_non_null(block);
    nc_image_plan plan;
    for (size_t at = 0; at < 32; at++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t before = block[at];
            block[at] = (uint8_t)value;
            assert_int_equal(nc_image_measure(&plan, image.bytes, image.count, NULL, NULL), NC_IMAGE_OK);
            assert_true(plan.orientation >= 1 && plan.orientation <= 8);
            block[at] = before;
        }
    }
    made_free(&image);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(image__rejects_bombs_before_decoding),
        harness_case(image__rejects_truncated_images),
        harness_case(image__survives_any_changed_byte),
        harness_case(image__rejects_a_png_with_damaged_transparency),
        harness_case(image__rejects_a_jpeg_with_too_many_scans),
        harness_case(image__rejects_a_png_with_data_after_its_last_row),
        harness_case(image__limits_the_memory_of_progressive_decoders),
        harness_case(image__ignores_malformed_exif),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
